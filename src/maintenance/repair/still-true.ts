import type pg from 'pg';
import type { ObjectStorage } from '#platform/storage/port.ts';
import { ownersOf } from '../owned-objects.ts';
import { examine } from '../verify/examine.ts';
import { type Finding, subjectOf } from '../verify/finding.ts';
import { orphanedAmong } from '../verify/unfinished.ts';

/** Whether a finding is what it was: a verification that went on after a pause may have found it days ago. */
export async function isStillTrue(
  finding: Finding,
  parts: { look: pg.Client; storage: Pick<ObjectStorage, 'size' | 'unfinished'> },
): Promise<boolean> {
  const { look, storage } = parts;
  const { kind, key, owner, what } = finding;
  const isItself = (other: Finding) => subjectOf(other) === subjectOf(finding);
  if (what === 'foreign') return true;
  if (what === 'unfinished') return (await orphanedAmong({ client: look, storage }, [key])).length > 0;
  if (kind === 'digest') {
    const owners = await ownersOf(look, [key]);
    return owners.some((now) => now.sha256 === owner?.sha256 && isItself({ ...finding, owner: now }));
  }
  const found = await Array.fromAsync(examine({ client: look, storage }, [key]));
  return found.some((now) => now.kind === kind && isItself(now));
}
