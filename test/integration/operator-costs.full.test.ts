import { type Kysely, sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { listAgentActivity } from '#capture/reports/agent-activity.queries.ts';
import { failedRecordings, uploadingRecordings } from '#capture/reports/failed-recordings.queries.ts';
import { listPlannedRecordings } from '#capture/schedules/timetable.queries.ts';
import { findRecordings } from '#pages/operator/recordings/recording-list.queries.ts';
import type { RecordingsQuery } from '#pages/operator/recordings/recording-list-query.ts';
import type { DB } from '#platform/database/schema.ts';
import { countNext } from '#statistics/count.ts';
import { FIGURES } from '#statistics/metrics/figures.queries.ts';
import { countsOf, storageOf } from '#statistics/trends.ts';
import { databaseForThisFile } from '../support/database.ts';
import { type LoggedDatabase, loggedDatabase } from '../support/logged-database.ts';
import { insertFinished } from '../support/operator-scene.ts';
import { costsOf } from '../support/plans.ts';
import { fillStatistics, fillStorageSizes } from '../support/statistics.ts';
import { withoutIndexes } from '../support/without-indexes.ts';

const HOUR = 3_600_000;

const db = databaseForThisFile();
let logged: LoggedDatabase;
beforeAll(() => {
  logged = loggedDatabase(db.url);
});
afterAll(() => logged?.database.destroy());

type Work = (on: Kysely<DB>) => Promise<unknown>;

describe('figures of the service', () => {
  beforeAll(async () => {
    await insertFinished(db.database, 20_000);
    await sql`UPDATE workflow_operations SET state = 'ready', lane = 'heavy', progress = 0, finished_at = NULL,
      ready_at = now() - interval '1 hour' WHERE operation = 'encode' AND workflow_id % 200 = 0`.execute(db.database);
    await sql`VACUUM ANALYZE workflow_operations`.execute(db.database);
  });

  test('the figures of the service cost as much as what waits, however much there was before', async () => {
    const [ready, oldest] = await FIGURES.lanes(db.database);
    expect(ready?.samples.filter(([, count]) => count > 0)).toEqual([[{ lane: 'heavy' }, 100]]);
    expect(oldest?.samples).toContainEqual([{ lane: 'heavy' }, expect.closeTo(3600, -2)]);
    const { touched, plan } = await costsOf(logged, async (on) => {
      for (const read of Object.values(FIGURES)) await read(on);
    });
    expect(touched, plan).toBeLessThan(1_000);
  });
});

describe('pages about agents', () => {
  /** An hour each, one after the other on every agent, half of them over. */
  const EACH = 300;
  const AGENTS = 100;
  beforeAll(async () => {
    await sql`TRUNCATE events, workflows CASCADE`.execute(db.database);
    await db.database.connection().execute((on) => withoutIndexes(on, ['events', 'schedules'], () => seed(on)));
    await sql`VACUUM ANALYZE events, schedules, capture_agents`.execute(db.database);
  });

  async function seed(on: Kysely<DB>): Promise<void> {
    await sql`INSERT INTO capture_agents (id, state, seen_at)
      SELECT 'Hall ' || i, 'idle', now() FROM generate_series(1, ${AGENTS}::integer) AS i`.execute(on);
    const half = EACH / 2;
    await sql`
      INSERT INTO schedules (event_id, agent_id, start_date, end_date, workflow, recording_state, recording_state_since)
      SELECT agent || '-' || i, 'Hall ' || agent, start, start + interval '1 hour', 'none',
        CASE WHEN i > ${half} THEN '' WHEN i % 10 = 0 THEN 'upload_error' ELSE 'upload_finished' END, start
      FROM generate_series(1, ${AGENTS}::integer) AS agent, generate_series(1, ${EACH}::integer) AS i,
        LATERAL (SELECT now() - interval '30 minutes' + (i - ${half}) * interval '5 hours' AS start) AS at`.execute(on);
    await sql`
      INSERT INTO events (id, title, start_date, created, creator, processing_state)
      SELECT event_id, 'Lecture', start_date, start_date, 'Tester',
        CASE recording_state WHEN 'upload_finished' THEN 'SUCCEEDED' ELSE '' END
      FROM schedules`.execute(on);
  }

  const around = (agentId: string, hours: number) => ({
    agentId,
    start: new Date(Date.now() - (hours / 2) * HOUR),
    end: new Date(Date.now() + (hours / 2) * HOUR),
  });
  const halls = Array.from({ length: AGENTS }, (_, i) => around(`Hall ${i + 1}`, 24));
  const graceMs = 24 * HOUR;

  test.each<[string, number, Work]>([
    // Of each agent: itself, what it records now by both indexes, its title, what is next, its failures.
    ['what all agents do', 2500, (on) => listAgentActivity(on, { search: '' }, 200)],
    ['what one agent does, with the failures of all', 1200, (on) => listAgentActivity(on, { id: 'Hall 7' }, 1)],
    ['the week of an agent', 250, (on) => listPlannedRecordings(on, [around('Hall 7', 7 * 24)], 500)],
    ['a day of all agents', 4000, (on) => listPlannedRecordings(on, halls, 50)],
    ['failures', 400, (on) => failedRecordings(on, { graceMs, most: 50 })],
    ['failures of one', 1500, (on) => failedRecordings(on, { agentId: 'Hall 7', graceMs, most: 50 })],
    ['uploads', 100, (on) => uploadingRecordings(on, { most: 50 })],
  ])('%s: does not read all events or schedules', async (_, most, work) => {
    const { touched, plan } = await costsOf(logged, work);
    expect(plan).not.toMatch(/Seq Scan on (events|schedules)/);
    expect(touched).toBeLessThan(most);
  });
});

describe('the list of recordings', () => {
  const EVENTS = 30_000;
  beforeAll(async () => {
    await sql`TRUNCATE events, workflows CASCADE`.execute(db.database);
    await db.database.connection().execute((on) =>
      withoutIndexes(on, ['events'], async () => {
        await sql`INSERT INTO events (id, title, start_date, created, creator, processing_state, description, series_id)
          SELECT 'e' || i, 'Lecture ' || i % 500, '2020-01-01Z'::timestamptz + i * interval '1 hour', now(), 'Tester',
            CASE WHEN i % 1000 = 7 THEN 'FAILED' ELSE 'SUCCEEDED' END,
            CASE WHEN i % 3000 = 7 THEN 'zymurgy' ELSE 'common words' END, 'series-' || i % 300
          FROM generate_series(1, ${EVENTS}::integer) AS i`.execute(on);
      }),
    );
    await sql`VACUUM ANALYZE events`.execute(db.database);
  });
  const oldest = ['start:DESC,identifier:DESC', 'after', '2020-01-03T00:00:00.000000Z', 'e48'];

  test.each<RecordingsQuery>([
    {},
    { sort: 'title:asc' },
    { sort: 'series:desc' },
    { sort: 'state:desc' },
    { state: 'failed' },
    { state: 'failed', sort: 'title:asc' },
    { state: 'scheduled' },
    { series: 'series-7' },
    { series: 'series-7', state: 'failed', sort: 'state:desc' },
    { agent: 'Hall 7' },
    { from: '2021-03-01', to: '2021-03-02' },
    { from: '2021-03-01', to: '2021-03-31', sort: 'series:desc' },
    { q: 'zymurgy' },
    { q: 'zymurgy', state: 'failed', sort: 'title:asc' },
    { q: 'common' },
    { cursor: Buffer.from(JSON.stringify(oldest)).toString('base64url') },
  ])('%j does not scan the table', async (query) => {
    const { touched, plan } = await costsOf(logged, async (on) => {
      await findRecordings(on, query);
      const asked = logged.queries.filter(({ sql: text }) => !text.trimStart().startsWith('EXPLAIN'));
      logged.forget();
      logged.queries.push(...asked);
    });
    expect(touched, plan).toBeLessThan(4_000);
  });

  test('a text that most recordings have is sorted by start, and a rare one as it is asked for', async () => {
    const sortOf = async (q: string) => (await findRecordings(db.database, { q, sort: 'title:asc' })).query.sort;
    expect([await sortOf('common'), await sortOf('zymurgy')]).toEqual([undefined, 'title:asc']);
  });
});

describe('statistics', () => {
  /** Several times as long as is shown. */
  const DAYS = 120;
  const CHANGES = 30_000;
  beforeAll(async () => {
    await sql`TRUNCATE events CASCADE`.execute(db.database);
    await fillStatistics(db.database, { days: DAYS, events: 1_000_000 });
    await fillStorageSizes(db.database, { days: DAYS });
    await sql`INSERT INTO changes (number, kind, event_id, data)
      SELECT i, 'publication.published', 'event-' || i, '{"channel": "engage-player"}'
      FROM generate_series(1, ${CHANGES}::integer) AS i`.execute(db.database);
    await sql`INSERT INTO changes_readers (name, position) VALUES ('statistics', ${CHANGES / 2})`.execute(db.database);
    await sql`VACUUM ANALYZE events, statistics_counts, storage_sizes, changes, changes_readers`.execute(db.database);
  });

  /** Leaves out statements that write. */
  const reading =
    (work: Work): Work =>
    async (on) => {
      await work(on);
      const selects = logged.queries.filter(({ sql: text }) => /^\s*select/i.test(text) && !/for update/i.test(text));
      logged.forget();
      logged.queries.push(...selects);
    };

  test.each<[string, number, Work]>([
    ['the last day', 8_000, (on) => countsOf(on, 'day', new Date())],
    ['the last month', 12_000, (on) => countsOf(on, 'month', new Date())],
    ['what was stored in the last month', 800, (on) => storageOf(on, new Date())],
  ])('%s of a million recordings a month costs the reading of few rows', async (_, most, work) => {
    const { touched } = await costsOf(logged, reading(work));
    expect(touched).toBeGreaterThan(100);
    expect(touched).toBeLessThan(most);
  });

  test('counting reads what came last, and not the whole log', async () => {
    const count = reading((on) => on.transaction().execute(countNext));
    const { touched } = await costsOf(logged, count);
    expect(touched).toBeGreaterThan(0);
    expect(touched).toBeLessThan(5_000);
  });
});
