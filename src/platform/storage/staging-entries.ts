import { sql } from 'kysely';
import type { Transaction } from '../database/kysely.ts';
import { GONE } from './sweep.ts';

/** The sweep removed an object that was still in use, because the lease of its owner had expired. */
export class StagingExpired extends Error {
  override name = 'StagingExpired';
}

/**
 * Takes objects of an owner off the ledger, as `StagingLedger.commit` does for this process.
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
 * Changes the expiry of objects whose owner is not a process.
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
 * Releases objects whose owner is not a process, all unless named: the sweep removes them soon after the commit.
 *
 * @param options.doubtful the storage may still store them: the sweep removes them once more, later
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
 * happens to this process. An existing entry, which no row's object should have, does not block the deletion.
 */
export async function releaseObjects(trx: Transaction, keys: readonly string[]): Promise<void> {
  if (keys.length === 0) return;
  await trx
    .insertInto('staging')
    .values(keys.map((key) => ({ object_key: key, owner: null, expires_at: sql<Date>`now()` })))
    .onConflict((entry) => entry.column('object_key').doUpdateSet({ owner: null, expires_at: sql<Date>`now()` }))
    .execute();
}

/** @throws {StagingExpired} when one of the keys was not found */
export function requireAll(keys: readonly string[], found: readonly { object_key: string }[]): void {
  const there = new Set(found.map(({ object_key }) => object_key));
  if (!keys.every((key) => there.has(key))) throw new StagingExpired('A staged object has been swept.');
}
