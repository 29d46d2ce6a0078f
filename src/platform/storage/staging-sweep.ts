import { setTimeout as sleep } from 'node:timers/promises';
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type pg from 'pg';
import { type ObservedPeriod, observedFor } from '../database/database-watch.ts';
import type { Database, Transaction } from '../database/kysely.ts';
import type { Logger } from '../telemetry/log.ts';
import type { ObjectStorage } from './object-storage.ts';

/** A decision to remove objects takes milliseconds. */
const WAIT_MS = 10_000;
const RETRY_MS = 20;
const REMOVALS = 'inlet removals of objects';

/** True when objects may be removed now. Evaluate it once, in the statement that decides to. */
export const removalAllowed = sql<boolean>`(SELECT pg_try_advisory_xact_lock_shared(hashtextextended(${REMOVALS}, 0)))`;

/** Keeps all processes from removing objects while the connection lives; false when another one does. */
export async function blockRemovals(client: pg.Client, waitMs = WAIT_MS): Promise<boolean> {
  for (const until = performance.now() + waitMs; ; await sleep(RETRY_MS)) {
    const { rows } = await client.query<{ kept: boolean }>(
      'SELECT pg_try_advisory_lock(hashtextextended($1, 0)) AS kept',
      [REMOVALS],
    );
    if (rows[0]?.kept) return true;
    if (performance.now() > until) return false;
  }
}

/** The sweep removed an object that was still in use, because the lease of its owner had expired. */
export class StagingExpired extends Error {
  override name = 'StagingExpired';
}

/** Returns the condition that an entry has one of these keys. They are one parameter, because a statement has few. */
export function hasKeyIn(keys: readonly string[]): RawBuilder<SqlBool> {
  return sql<SqlBool>`object_key = ANY(${keys}::text[])`;
}

/** Takes objects of an owner off the ledger. @throws {StagingExpired} when one was swept */
export async function commitOwned(trx: Transaction, owner: string, keys: readonly string[]): Promise<void> {
  if (keys.length === 0) return;
  const entries = trx.deleteFrom('staging').where(hasKeyIn(keys)).where('owner', '=', owner);
  requireAllKeys(keys, await entries.returning('object_key').execute());
}

/** Changes entries of an owner, such as the time when they expire. @throws {StagingExpired} as `commitOwned` */
export async function updateOwned(
  trx: Transaction,
  owner: string,
  keys: readonly string[],
  values: { owner?: string; expires_at: Date; account?: null },
): Promise<void> {
  if (keys.length === 0) return;
  const entries = trx.updateTable('staging').set(values).where(hasKeyIn(keys)).where('owner', '=', owner);
  requireAllKeys(keys, await entries.returning('object_key').execute());
}

/**
 * Releases objects whose owner is not a process: the sweep removes them soon after the commit.
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
    .set({ owner: doubtful ? DEAD_OWNER : null, expires_at: sql<Date>`now()` })
    .where('owner', '=', owner);
  await (keys ? owned.where(hasKeyIn(keys)) : owned).execute();
}

/** Enters objects whose rows the same transaction deletes: the sweep removes them soon after the commit. */
export async function releaseObjects(trx: Transaction, keys: readonly string[]): Promise<void> {
  if (keys.length === 0) return;
  await sql`
    INSERT INTO staging (object_key, owner, expires_at) SELECT key, NULL, now() FROM unnest(${keys}::text[]) AS key
    ON CONFLICT (object_key) DO UPDATE SET owner = NULL, expires_at = now()`.execute(trx);
}

/** @throws {StagingExpired} when one of the keys was not found */
function requireAllKeys(keys: readonly string[], found: readonly { object_key: string }[]): void {
  const there = new Set(found.map(({ object_key }) => object_key));
  if (!keys.every((key) => there.has(key))) throw new StagingExpired('A staged object has been swept.');
}

/** The time an entry outlives its owner's last renewal. */
export const LEASE_SECONDS = 60;
const BATCH = 50;
/** A sweep leaves more entries to the next one, so that the process can report progress. */
const BATCHES = 20;
/** The pause before an object is removed again, because its owner or the storage was only slow. */
const GRACE_SECONDS = 120;
/** Stands for dead owners, and for owners that do not know what the storage may still do. No process has this name. */
export const DEAD_OWNER = 'gone';

/**
 * Removes the objects of expired entries, then the entries. No transaction is open while the storage works.
 *
 * @param seen without a watch of `LEASE_SECONDS`, only entries without an owner are removed
 * @returns the number of removed objects
 */
export async function sweepStaging(
  { database, storage, log }: { database: Database; storage: ObjectStorage; log: Logger },
  seen: ObservedPeriod | undefined,
): Promise<number> {
  let swept = 0;
  for (let batch = 0; batch < BATCHES; batch += 1) {
    const entries = await disownExpired(database, seen);
    const outcomes = await Promise.allSettled(entries.map((entry) => storage.remove([entry.object_key])));
    const removed = entries.filter((_, i) => outcomes[i]?.status === 'fulfilled');
    const keysOf = (of: (owner: string | null) => boolean) =>
      removed.filter(({ owner }) => of(owner)).map(({ object_key }) => object_key);
    const finished = keysOf((owner) => owner === null);
    if (finished.length > 0) {
      await database.deleteFrom('staging').where('object_key', 'in', finished).execute();
    }
    const once = keysOf((owner) => owner !== null);
    if (once.length > 0) {
      const entry = database.updateTable('staging').set({ owner: null }).where('owner', '=', DEAD_OWNER);
      await entry.where('object_key', 'in', once).execute();
    }
    swept += removed.length;
    const failure = outcomes.find((outcome) => outcome.status === 'rejected');
    if (failure) {
      const objects = entries.length - removed.length;
      log.warn({ err: failure.reason, objects }, 'could not sweep staged objects; the next sweep will retry');
    }
    if (failure || entries.length < BATCH) break;
  }
  return swept;
}

/** Removes the owners of expired entries and reserves them for this sweep for a while. */
async function disownExpired(
  database: Database,
  seen: ObservedPeriod | undefined,
): Promise<{ object_key: string; owner: string | null }[]> {
  return database.transaction().execute(async (trx) => {
    const expired = await trx
      .selectFrom('staging')
      .select(['object_key', 'owner'])
      .where('expires_at', '<', sql<Date>`now()`)
      .where(removalAllowed)
      .where((is) => is.or([is('owner', 'is', null), is('owner', '=', DEAD_OWNER), observedFor(LEASE_SECONDS, seen)]))
      .orderBy('expires_at')
      .limit(BATCH)
      .forUpdate()
      .skipLocked()
      .execute();
    if (expired.length === 0) return [];
    const keys = expired.map((entry) => entry.object_key);
    await trx
      .updateTable('staging')
      .set({
        owner: sql<string | null>`CASE WHEN owner IS NOT NULL THEN ${DEAD_OWNER} END`,
        expires_at: sql<Date>`now() + make_interval(secs => ${GRACE_SECONDS})`,
      })
      .where('object_key', 'in', keys)
      .execute();
    return expired;
  });
}
