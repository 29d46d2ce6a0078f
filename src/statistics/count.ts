import { sql } from 'kysely';
import type { Change } from '#changes/change.ts';
import { lockPosition, movePosition, numberChanges, READ_AT_ONCE, readChanges } from '#changes/read-changes.ts';
import type { Database, Transaction } from '#platform/database/kysely.ts';
import { inTransaction } from '#platform/database/retry.ts';
import { type Fact, factsOf, nameOf, OTHER_REASONS, type Period, type Tally, tally } from './tally.ts';

/** The name of this reader in the log of changes. */
const READER = 'statistics';
/** Batches per call, so that other work gets a turn and the process can stop. */
const BATCHES = 50;

/**
 * Counts the changes since the last count. Of several processes that count concurrently, one continues.
 *
 * @returns how many changes were read
 */
export async function countChanges(database: Database): Promise<number> {
  await numberChanges(database);
  let all = 0;
  for (let batch = 0; batch < BATCHES; batch += 1) {
    const read = await inTransaction(database, countNext);
    all += read;
    if (read < READ_AT_ONCE) break;
  }
  return all;
}

/**
 * Counts the next changes and moves the position, in one transaction, so that a change is counted exactly once.
 *
 * @returns how many changes were read; 0 while another transaction counts
 */
export async function countNext(trx: Transaction): Promise<number> {
  const position = await lockPosition(trx, READER, { skipLocked: true });
  if (position === undefined) return 0;
  const changes = await readChanges(trx, position);
  const last = changes.at(-1);
  if (!last) return 0;
  const starts = await workflowStarts(trx, changes);
  const facts = changes.flatMap((change) => factsOf(change, starts));
  await add(trx, tally(facts, await knownReasons(trx, facts)));
  await movePosition(trx, READER, last.number);
  return changes.length;
}

/** Returns the start of the workflow of each publication, by the number of the change. */
async function workflowStarts(trx: Transaction, changes: readonly Change[]): Promise<Map<number, Date>> {
  const numbers = changes.filter(({ kind }) => kind === 'publication.published').map(({ number }) => number);
  if (numbers.length === 0) return new Map();
  const { rows } = await sql<{ number: number; start: Date }>`
    SELECT changes.number, latest.created_at AS start FROM changes CROSS JOIN LATERAL (
      SELECT created_at FROM workflows WHERE event_id = changes.event_id AND created_at <= changes.at
      ORDER BY id DESC LIMIT 1
    ) AS latest WHERE changes.number = ANY(${numbers})`.execute(trx);
  return new Map(rows.map(({ number, start }) => [number, start]));
}

/** Returns the reasons already counted in the hours and days of these failures. */
async function knownReasons(trx: Transaction, facts: readonly Fact[]): Promise<Map<string, Set<string>>> {
  const failures = facts.filter(({ measure }) => measure === 'failure');
  const known = new Map<string, Set<string>>();
  if (failures.length === 0) return known;
  const slots = new Map(tally(failures, new Map()).map((row) => [nameOf(row), row]));
  const { rows } = await sql<{ period: Period; start: Date; label: string }>`
    SELECT period, start, label FROM statistics_counts JOIN
      unnest(${[...slots.values()].map(({ period }) => period)}::text[],
        ${[...slots.values()].map(({ start }) => start)}::timestamptz[]) AS wanted (period, start) USING (period, start)
    WHERE measure = 'failure' AND label <> ${OTHER_REASONS}`.execute(trx);
  for (const [name, own] of Map.groupBy(rows, nameOf)) known.set(name, new Set(own.map(({ label }) => label)));
  return known;
}

async function add(trx: Transaction, rows: readonly Tally[]): Promise<void> {
  if (rows.length === 0) return;
  await sql`
    INSERT INTO statistics_counts (period, start, measure, label, bucket, count, sum)
    SELECT * FROM jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) AS (period text, start timestamptz, measure text,
      label text, bucket integer, count bigint, sum bigint)
    ON CONFLICT (period, start, measure, label, bucket) DO UPDATE
      SET count = statistics_counts.count + excluded.count, sum = statistics_counts.sum + excluded.sum`.execute(trx);
}

/** Retention of the counts: a year, and the month of the year before it. */
const KEPT_MONTHS = 13;
/** Retention of hourly storage sizes; older ones are kept once per day. */
const HOURLY_DAYS = 32;

/** Removes counts and sizes beyond their retention. @returns the number of removed rows */
export async function sweepStatistics(database: Database): Promise<number> {
  const counts = await sql`
    DELETE FROM statistics_counts WHERE period IN ('hour', 'day')
      AND start < now() - make_interval(months => ${KEPT_MONTHS})`.execute(database);
  const sizes = await sql`
    DELETE FROM storage_sizes WHERE hour < now() - make_interval(months => ${KEPT_MONTHS})
      OR (hour < now() - make_interval(days => ${HOURLY_DAYS}) AND EXISTS (
        SELECT FROM storage_sizes AS earlier
        WHERE earlier.hour >= date_trunc('day', storage_sizes.hour, 'UTC') AND earlier.hour < storage_sizes.hour))`.execute(
    database,
  );
  return Number((counts.numAffectedRows ?? 0n) + (sizes.numAffectedRows ?? 0n));
}

/** The name of the lock, so that one process measures. */
const TURN = 'inlet storage sizes';

/**
 * Records the stored bytes once per hour, in one of all processes. Sums the sizes of all files, which may take seconds.
 *
 * @returns false when this hour is recorded already or another process is measuring
 */
export async function measureStorage(database: Database): Promise<boolean> {
  return database.transaction().execute(async (trx) => {
    const { rows } = await sql<{ due: boolean }>`
      SELECT pg_try_advisory_xact_lock(hashtextextended(${TURN}, 0)) AS due
      WHERE NOT EXISTS (SELECT FROM storage_sizes WHERE hour = date_trunc('hour', now(), 'UTC'))`.execute(trx);
    if (!rows[0]?.due) return false;
    // Not part of the INSERT, because PostgreSQL runs no statement that writes in parallel.
    const sizes = await sql<{ received: number; processed: number; unfinished: number }>`
      SELECT (SELECT coalesce(sum(size), 0) FROM tracks)::bigint + (SELECT coalesce(sum(size), 0) FROM attachments)::bigint
          AS received,
        (SELECT coalesce(sum(size), 0) FROM publication_elements)::bigint AS processed,
        (SELECT coalesce(sum(size), 0) FROM draft_tracks)::bigint
          + (SELECT coalesce(sum(size), 0) FROM draft_attachments)::bigint
          + (SELECT coalesce(sum(stored + rest_bytes), 0) FROM uploads WHERE event_id IS NULL)::bigint
          AS unfinished`.execute(trx);
    const [measured] = sizes.rows;
    if (!measured) return false;
    const { numInsertedOrUpdatedRows = 0n } = await trx
      .insertInto('storage_sizes')
      .values({ hour: sql<Date>`date_trunc('hour', now(), 'UTC')`, ...measured })
      .onConflict((row) => row.doNothing())
      .executeTakeFirstOrThrow();
    return numInsertedOrUpdatedRows > 0n;
  });
}
