import type pg from 'pg';
import type { ObjectStorage } from '../../storage/port.ts';
import { ownersOf } from '../owned-objects.ts';
import { examine } from '../verify/examine.ts';
import type { Finding } from '../verify/finding.ts';
import { orphanedAmong } from '../verify/unfinished.ts';

/** Whether a finding is what it was: a verification that went on after a pause may have found it days ago. */
export async function isStillTrue(
  { kind, key, owner, what }: Finding,
  parts: { look: pg.Client; storage: Pick<ObjectStorage, 'size' | 'unfinished'> },
): Promise<boolean> {
  const { look, storage } = parts;
  if (what === 'foreign') return true;
  if (what === 'unfinished') return (await orphanedAmong({ client: look, storage }, [key])).length > 0;
  if (kind === 'digest') return (await ownersOf(look, [key]))[0]?.sha256 === owner?.sha256;
  const [now] = await Array.fromAsync(examine({ client: look, storage }, [key]));
  return now?.kind === kind;
}
