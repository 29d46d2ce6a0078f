import { sql } from 'kysely';
import type { Change } from '#changes/change.ts';
import { numberChanges, READ_AT_ONCE, readChanges } from '#changes/read.ts';
import type { Database, Transaction } from '#platform/database/kysely.ts';
import { inTransaction } from '#platform/database/retry.ts';
import { type Fact, factsOf } from './facts.ts';
import { nameOf, OTHER_REASONS, type Period, type Tally, tally } from './tally.ts';

/** As which reader of the log it goes on where it was. */
const READER = 'statistics';
/** After so many at once somebody else may have a turn, or the process end. */
const BATCHES = 50;

/**
 * Counts what has happened since it was last counted, by whichever process. Of several that do it at once one goes on.
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
 * Counts the next changes and moves on, in one transaction: what is rolled back is counted by the next one.
 *
 * @returns how many changes were read; 0 while another transaction counts
 */
export async function countNext(trx: Transaction): Promise<number> {
  const position = await takeCursor(trx);
  if (position === undefined) return 0;
  const changes = await readChanges(trx, position);
  const last = changes.at(-1);
  if (!last) return 0;
  const starts = await workflowStarts(trx, changes);
  const facts = changes.flatMap((change) => factsOf(change, starts));
  await add(trx, tally(facts, await knownReasons(trx, facts)));
  await trx
    .updateTable('changes_readers')
    .set({ position: last.number })
    .where('name', '=', READER)
    .execute();
  return changes.length;
}

/** @returns undefined while another transaction has it */
async function takeCursor(trx: Transaction): Promise<number | undefined> {
  await trx
    .insertInto('changes_readers')
    .values({ name: READER, position: 0 })
    .onConflict((row) => row.doNothing())
    .execute();
  const cursor = await trx
    .selectFrom('changes_readers')
    .select('position')
    .where('name', '=', READER)
    .forUpdate()
    .skipLocked()
    .executeTakeFirst();
  return cursor?.position;
}

/** When the workflows began that published, by the numbers of the changes that tell of it. */
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

/** The reasons that are told apart already, of the hours and days of these failures. */
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
  for (const [name, own] of Map.groupBy(rows, nameOf))
    known.set(name, new Set(own.map(({ label }) => label)));
  return known;
}

async function add(trx: Transaction, rows: readonly Tally[]): Promise<void> {
  if (rows.length === 0) return;
  await sql`
    INSERT INTO statistics_counts (period, start, measure, label, bucket, count, sum)
    SELECT * FROM jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) AS (period text, start timestamptz, measure text,
      label text, bucket integer, count bigint, sum bigint)
    ON CONFLICT (period, start, measure, label, bucket) DO UPDATE
      SET count = statistics_counts.count + excluded.count, sum = statistics_counts.sum + excluded.sum`.execute(
    trx,
  );
}
