import { type Kysely, sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { DB } from '../../src/database/schema.ts';
import { countNext } from '../../src/statistics/count.ts';
import { countsOf, storageOf } from '../../src/statistics/trends.queries.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { type LoggedDatabase, loggedDatabase } from '../support/logged-database.ts';
import { type PlanNode, touchedBy } from '../support/plans.ts';
import { fillStatistics, fillStorageSizes } from '../support/statistics.ts';

/** Several times as long as is shown. */
const DAYS = 120;
const CHANGES = 30_000;

let db: TestDatabase;
let logged: LoggedDatabase;

beforeAll(async () => {
  db = await createTestDatabase();
  await fillStatistics(db.database, { days: DAYS, events: 1_000_000 });
  await fillStorageSizes(db.database, { days: DAYS });
  await sql`INSERT INTO changes (number, kind, event_id, data)
    SELECT i, 'publication.published', 'event-' || i, '{"channel": "engage-player"}'
    FROM generate_series(1, ${CHANGES}::integer) AS i`.execute(db.database);
  await sql`INSERT INTO changes_readers (name, position) VALUES ('statistics', ${CHANGES / 2})`.execute(
    db.database,
  );
  await sql`VACUUM ANALYZE statistics_counts, storage_sizes, changes, changes_readers`.execute(db.database);
  logged = loggedDatabase(db.url);
}, 240_000);
afterAll(async () => {
  await logged?.database.destroy();
  await db?.close();
});

/** How many rows the reading statements of some work touch, as their plans count them. */
async function rowsTouched(work: (on: Kysely<DB>) => Promise<unknown>): Promise<number> {
  logged.forget();
  await work(logged.database);
  let touched = 0;
  for (const { sql: text, parameters } of [...logged.queries]) {
    if (!/^\s*select/i.test(text) || /for update/i.test(text)) continue;
    const { rows } = await logged.pool.query<{ 'QUERY PLAN': [{ Plan: PlanNode }] }>(
      `EXPLAIN (ANALYZE, FORMAT JSON) ${text}`,
      [...parameters],
    );
    touched += rows.reduce((sum, row) => sum + touchedBy(row['QUERY PLAN'][0].Plan), 0);
  }
  return touched;
}

test.each<[string, number, (on: Kysely<DB>) => Promise<unknown>]>([
  ['the last day', 8_000, (on) => countsOf(on, 'day', new Date())],
  ['the last month', 12_000, (on) => countsOf(on, 'month', new Date())],
  ['what was stored in the last month', 800, (on) => storageOf(on, new Date())],
])('%s of a million recordings a month costs the reading of few rows', async (_, most, work) => {
  const touched = await rowsTouched(work);
  expect(touched).toBeGreaterThan(100);
  expect(touched).toBeLessThan(most);
});

test('counting reads what came last, and not the whole log', async () => {
  const touched = await rowsTouched((on) => on.transaction().execute(countNext));
  expect(touched).toBeGreaterThan(0);
  expect(touched).toBeLessThan(5_000);
});
