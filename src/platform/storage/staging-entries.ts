import { sql } from 'kysely';
import type { Transaction } from '../database/kysely.ts';
import { GONE } from './sweep.ts';

/**
 * The sweep took an object that somebody still wanted: its owner's time had run out, that of a process by a silence of a
 * whole lease.
 */
export class StagingExpired extends Error {
  override name = 'StagingExpired';
}

/**
 * Takes objects of an owner off the ledger, as `StagingLedger.commit` does with those of its process.
 *
 * @throws {StagingExpired} when one of the keys has been swept; the transaction must roll back
 */
export async function commitOwned(trx: Transaction, owner: string, keys: readonly string[]): Promise<void> {
  if (keys.length === 0) return;
  const taken = await trx
    .deleteFrom('staging')
    .where('object_key', 'in', keys)
    .where('owner', '=', owner)
    .returning('object_key')
    .execute();
  requireAll(keys, taken);
}

/**
 * Lets objects of an owner that is no process expire at another time.
 *
 * @throws {StagingExpired} when one of the keys has been swept; the transaction must roll back
 */
export async function extendOwned(
  trx: Transaction,
  owner: string,
  keys: readonly string[],
  expiresAt: Date,
): Promise<void> {
  if (keys.length === 0) return;
  const extended = await trx
    .updateTable('staging')
    .set({ expires_at: expiresAt })
    .where('object_key', 'in', keys)
    .where('owner', '=', owner)
    .returning('object_key')
    .execute();
  requireAll(keys, extended);
}

/**
 * Gives up objects of an owner that is no process, all unless named: the sweep removes them soon after the commit.
 *
 * @param options.doubtful the storage may still be about to store them: it removes them once more, later
 */
export async function releaseOwned(
  trx: Transaction,
  owner: string,
  { keys, doubtful = false }: { keys?: readonly string[]; doubtful?: boolean } = {},
): Promise<void> {
  const owned = trx
    .updateTable('staging')
    .set({ owner: doubtful ? GONE : null, expires_at: sql<Date>`now()` })
    .where('owner', '=', owner);
  await (keys ? owned.where('object_key', 'in', keys) : owned).execute();
}

/**
 * Enters objects whose rows the same transaction deletes: the sweep removes them soon after the commit, whatever
 * happens to this process. One that stands there already, which no row's should, keeps nobody from deleting it.
 */
export async function releaseObjects(trx: Transaction, keys: readonly string[]): Promise<void> {
  if (keys.length === 0) return;
  await trx
    .insertInto('staging')
    .values(keys.map((key) => ({ object_key: key, owner: null, expires_at: sql<Date>`now()` })))
    .onConflict((entry) => entry.column('object_key').doUpdateSet({ owner: null, expires_at: sql<Date>`now()` }))
    .execute();
}

/** @throws {StagingExpired} when one of the keys is not among those that were found */
export function requireAll(keys: readonly string[], found: readonly { object_key: string }[]): void {
  const there = new Set(found.map(({ object_key }) => object_key));
  if (!keys.every((key) => there.has(key))) throw new StagingExpired('A staged object has been swept.');
}
