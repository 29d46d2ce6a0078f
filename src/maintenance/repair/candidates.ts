import type pg from 'pg';
import type { Database } from '#platform/database/kysely.ts';
import { ObjectNotFound, type ObjectStorage } from '#platform/storage/port.ts';
import { ownersOf, ownersOfSums } from '../owned-objects.ts';
import type { Finding } from '../verify/finding.ts';
import type { Notes } from '../verify/notes.ts';
import { keepLonger, keptObjects } from './keep.ts';
import { eachSought, type SoughtObjects } from './sought.ts';
import { isStillTrue } from './still-true.ts';

/** Of rows with one digest, so many are asked for theirs: one may be damaged as well. */
const ROWS_OF_A_SUM = 3;

/** What is looked through. */
export interface Places {
  database: Database;
  look: pg.Client;
  storage: Pick<ObjectStorage, 'size' | 'unfinished'>;
}

/** An object that may be what a row does not find. */
export type Candidate = Pick<Finding, 'key' | 'size' | 'owner'>;

/**
 * Objects that may be what rows do not find: those that are where they should not be, what an earlier repair keeps, and
 * those of rows that say they have the same.
 */
export async function* candidates(
  notes: Pick<Notes, 'findings'>,
  sought: SoughtObjects,
  places: Places,
): AsyncGenerator<Candidate> {
  for await (const finding of notes.findings()) if (await mayBeSought(finding, places)) yield finding;
  if (sought.bySize.size > 0) yield* kept(places, sought);
  const left = [...eachSought(sought)];
  if (left.length === 0) return;
  const sums = left.flatMap(({ owner }) => owner?.sha256 ?? []);
  const besides = left.map(({ key }) => key);
  for (const owner of await ownersOfSums(places.look, sums, { besides, most: ROWS_OF_A_SUM })) {
    yield { key: owner.key, size: owner.size, owner };
  }
}

async function mayBeSought(finding: Finding, places: Places): Promise<boolean> {
  const { kind, what } = finding;
  if (kind === 'size' || kind === 'digest') return true;
  return kind === 'orphaned' && !what && (await isStillTrue(finding, places));
}

async function* kept(
  { database, look, storage }: Places,
  { bySize }: SoughtObjects,
): AsyncGenerator<Candidate> {
  for (const key of await keptObjects(database)) {
    if ((await ownersOf(look, [key])).length > 0) continue;
    const size = await storage.size(key).catch((error) => {
      if (error instanceof ObjectNotFound) return null;
      throw error;
    });
    if (size === null || !bySize.has(size)) continue;
    // To be read and named by a row takes time, in which it may not be removed.
    if (await keepLonger(database, key)) yield { key, size, owner: null };
  }
}
