import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { recordTimes } from '#changes/resource-times.ts';
import type { Transaction } from '#platform/database/kysely.ts';
import { databaseForThisFile } from '../support/database.ts';

const EVENTS = 20_000;
const SERIES = 2_000;

const db = databaseForThisFile();

/** The rows that the connection has read of the large tables. */
async function rowsRead(trx: Transaction): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    SELECT sum(seq_tup_read + coalesce(idx_tup_fetch, 0))::integer AS count FROM pg_stat_xact_user_tables
    WHERE relname IN ('events', 'resource_times', 'changes')`.execute(trx);
  return rows[0]?.count ?? 0;
}

test('the times of two changes cost as much as these, however many resources there are', async () => {
  const { database } = db;
  await sql`
    INSERT INTO events (id, title, creator, start_date, created, series_id)
    SELECT 'event-' || n, '', '', now(), now(), 'series-' || n % ${SERIES} FROM generate_series(1, ${EVENTS}::integer) AS n`.execute(
    database,
  );
  await sql`INSERT INTO resource_times SELECT 'event', id, 0 FROM events`.execute(database);
  await sql`INSERT INTO changes (number, kind, event_id)
    SELECT row_number() OVER (), 'publication.published', id FROM events`.execute(database);
  await sql`VACUUM ANALYZE events, resource_times, changes`.execute(database);
  await sql`INSERT INTO changes (number, kind, event_id, series_id, data) VALUES
    (${EVENTS + 1}, 'event.changed', 'event-1', NULL, '{}'),
    (${EVENTS + 2}, 'series.changed', NULL, 'series-7', '{"parts": ["acl"]}')`.execute(database);
  await database
    .updateTable('changes_counter')
    .set({ timed: EVENTS, last: EVENTS + 2 })
    .execute();
  await database.transaction().execute(async (trx) => {
    const before = await rowsRead(trx);
    await recordTimes(trx);
    expect((await rowsRead(trx)) - before).toBeLessThan(100);
  });
  const renewed = await database.selectFrom('resource_times').select('id').where('time', '>', 0).execute();
  expect(renewed).toHaveLength(1 + EVENTS / SERIES + 1);
});
