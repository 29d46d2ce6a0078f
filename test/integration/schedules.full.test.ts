import fc from 'fast-check';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { markMissedBatch, markMissedRecordings } from '#capture/reports/missed-recordings.ts';
import { conflictsWith } from '#capture/schedules/schedule-conflicts.ts';
import type { Transaction } from '#platform/database/kysely.ts';
import { migrate } from '#platform/database/migrate.ts';
import { ownApp, workerApp } from '../support/app.ts';
import { post } from '../support/app-uploads.ts';
import { hostileJson } from '../support/bad-input/hostile.ts';
import { Judge } from '../support/bad-input/judge.ts';
import { createDatabaseBefore, type DatabaseBefore } from '../support/database-before.ts';
import { eventFields, field, form } from '../support/form.ts';
import { loggedDatabase } from '../support/logged-database.ts';
import { admin, deleteScheduled, minute, move, scheduleTogether } from '../support/schedules.ts';
import { scheduledFields } from '../support/scheduling.ts';
import { compareWithTimetable } from '../support/timetable.ts';

test('claims share out what is occupied, whatever is stored, moved and deleted in whatever order', async () =>
  compareWithTimetable((await workerApp()).database, 20));

describe('with many schedules of many agents', async () => {
  const AGENTS = 100;
  const SCHEDULES_EACH = 200;
  /** More than is read for each schedule that is written or looked for, and far less than one agent has. */
  const MOST = 8;
  /** Events that are moved or deleted. */
  const TOUCHED = ['9-5', '9-6', '11-7', '12-7', '1-7'];

  const { database, context } = await ownApp();
  beforeAll(async () => {
    await sql`INSERT INTO capture_agents (id) SELECT 'room ' || i FROM generate_series(1, ${AGENTS}) AS i`.execute(
      database,
    );
    await database.transaction().execute(async (trx) => {
      // Everything else that is derived of events takes long, and says nothing of schedules.
      await sql`ALTER TABLE events DISABLE TRIGGER USER`.execute(trx);
      await sql`
        INSERT INTO schedules (event_id, agent_id, start_date, end_date, workflow)
        SELECT agent || '-' || i, 'room ' || agent, begin, begin + interval '90 minutes', 'publish'
        FROM generate_series(1, ${AGENTS}) AS agent, generate_series(1, ${SCHEDULES_EACH}) AS i,
          LATERAL (SELECT ${minute(0)}::timestamptz + i * interval '2 hours' AS begin) AS at`.execute(trx);
      await sql`
        INSERT INTO events (id, title, start_date, created, creator)
        SELECT event_id, 'Lecture', start_date, now(), 'Tester' FROM schedules`.execute(trx);
    });
    await sql`ALTER TABLE events ENABLE TRIGGER USER`.execute(database);
    await sql`UPDATE events SET agent_id = '' WHERE id IN (${sql.join(TOUCHED)})`.execute(database);
    // One agent has as many that share their time as that.
    await sql`
      WITH others AS (INSERT INTO schedules (event_id, agent_id, start_date, end_date, workflow, allow_conflict)
        SELECT 'shares' || i, 'room 1', ${minute(30)}::timestamptz + i * interval '2 hours',
          ${minute(100)}::timestamptz + i * interval '2 hours', 'publish', true FROM generate_series(1, 20) AS i)
      INSERT INTO events (id, title, start_date, created, creator)
      SELECT 'shares' || i, 'Lecture', now(), now(), 'Tester' FROM generate_series(1, 20) AS i`.execute(database);
    await sql`VACUUM ANALYZE schedules, events`.execute(database);
  });

  /** Counts the reads of the whole table of schedules, and the rows read by an index; those of triggers as well. */
  async function readsOf(work: (trx: Transaction) => Promise<unknown>): Promise<{ whole: number; rows: number }> {
    return await database.transaction().execute(async (trx) => {
      const counted = async () => {
        const { rows } = await sql<{ whole: number; rows: number }>`
          SELECT seq_scan AS whole, idx_tup_fetch AS rows
          FROM pg_stat_xact_user_tables WHERE relname = 'schedules'`.execute(trx);
        return rows[0] ?? { whole: 0, rows: 0 };
      };
      const before = await counted();
      await work(trx);
      const after = await counted();
      return { whole: after.whole - before.whole, rows: after.rows - before.rows };
    });
  }

  /** The first hour of each of a hundred recordings. */
  const occurrences = Array.from({ length: 100 }, (_, index) => ({
    eventId: `new ${index}`,
    title: 'New',
    start: minute(120 + index * 120),
    end: minute(180 + index * 120),
  }));
  const conflicts = (trx: Transaction, agentId: string, count: number) =>
    conflictsWith(trx, admin, { agentId, gapMs: 0, occurrences: occurrences.slice(0, count) });
  const thirty = Array.from({ length: 30 }, (_, i) => ({ from: i * 120 + 90, to: i * 120 + 120 }));
  const late = { from: 60_000, to: 60_060 };

  test.each<[string, number, (trx: Transaction) => Promise<unknown>]>([
    ['scheduling one more', 1, (trx) => scheduleTogether(trx, 'room 7', [late])],
    ['scheduling thirty more', 30, (trx) => scheduleTogether(trx, 'room 8', thirty)],
    ['moving one', 1, (trx) => move(trx, '9-5', late)],
    ['moving one to another agent', 1, (trx) => move(trx, '9-6', { agentId: 'room 10', ...late })],
    ['letting one overlap', 1, (trx) => move(trx, '11-7', { from: 1000, to: 1060, allowConflict: true })],
    ['deleting one', 1, (trx) => deleteScheduled(trx, '12-7')],
    ['deleting one whose time is shared', 1, (trx) => deleteScheduled(trx, '1-7')],
    ['looking up what one conflicts with', 1, (trx) => conflicts(trx, 'room 13', 1)],
    ['looking up what ten conflict with', 10, (trx) => conflicts(trx, 'room 13', 10)],
    ['looking up what ten conflict with where many overlap', 10, (trx) => conflicts(trx, 'room 1', 10)],
  ])('%s does not read them all', async (_, size, work) => {
    const reads = await readsOf(work);
    expect(reads.whole).toBe(0);
    expect(reads.rows).toBeGreaterThan(0);
    expect(reads.rows).toBeLessThan(MOST * size);
  });

  test('looking for recordings that never came reads no schedule that is to come', async () => {
    const reads = await readsOf((trx) => markMissedBatch(trx, 0));
    expect(reads.whole).toBe(0);
    // The planner itself looks up the ends of an index.
    expect(reads.rows).toBeLessThan(MOST);
  });

  test.each([
    ['an agent whose recordings do not overlap', 'room 14', 100],
    ['an agent where many do', 'room 1', 119],
  ])('conflicts of a hundred occurrences on %s are looked up in the index', async (_, agentId, found) => {
    const logged = loggedDatabase(context.config.databaseUrl ?? '');
    try {
      expect(await conflictsWith(logged.database, admin, { agentId, gapMs: 0, occurrences })).toHaveLength(found);
      const [query] = logged.queries;
      const { rows } = await logged.pool.query<{ 'QUERY PLAN': string }>(`EXPLAIN ANALYZE ${query?.sql}`, [
        ...(query?.parameters ?? []),
      ]);
      const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
      expect(plan).toMatch(/schedules_do_not_conflict.*\n.*Index Cond: \(\(agent_id = .* AND \(claimed && /);
      expect(plan).not.toMatch(/Seq Scan on (schedules|events)/);
    } finally {
      await logged.database.destroy();
    }
  });
});

describe('an application alone', async () => {
  const app = await ownApp();

  test('several reconcilers mark each of many missed recordings once', async () => {
    await app.database.transaction().execute(async (trx) => {
      await sql`INSERT INTO capture_agents (id) VALUES ('busy')`.execute(trx);
      await sql`
        INSERT INTO schedules (event_id, agent_id, start_date, end_date, workflow, changed_at)
        SELECT 'missed-' || n, 'busy', now() - (n + 100) * interval '1 hour', now() - (n + 99) * interval '1 hour',
          'publish', now() - interval '90 days' FROM generate_series(1, 1200) n`.execute(trx);
      await sql`
        INSERT INTO events (id, title, creator, start_date, created)
        SELECT 'missed-' || n, 'Missed', 'x', now(), now() FROM generate_series(1, 1200) n`.execute(trx);
    });
    const mark = () => markMissedRecordings(app.database, 86_400_000);
    const marked = await Promise.all(Array.from({ length: 4 }, mark));
    const rest = await mark();
    expect(marked.reduce((sum, each) => sum + each, rest)).toBe(1200);
    const failed = app.database.selectFrom('events').select('id').where('status', '=', 'RECORDING_FAILURE');
    expect(await failed.execute()).toHaveLength(1200);
  });

  test('a thousand events are created by one request', async () => {
    const rule = {
      agent_id: 'hall',
      start: '2030-01-01T00:00:00Z',
      end: new Date(Date.UTC(2030, 0, 1000, 23)).toISOString(),
      duration: 3_600_000,
      rrule: 'FREQ=DAILY;BYHOUR=9;BYMINUTE=0',
    };
    const answer = await post(app, scheduledFields(rule, 'Logic'));
    expect(answer.status).toBe(200);
    const ids = ((await answer.json()) as { identifier: string }[]).map(({ identifier }) => identifier);
    expect(new Set(ids).size).toBe(1000);
    const last = await app.request(`/api/events/${ids.at(-1)}`);
    expect(await last.json()).toMatchObject({ title: 'Logic 1000', start: '2032-09-26T09:00:00Z' });
  });

  const PERIOD = { agent_id: 'room', start: '2030-01-07T09:00:00Z', end: '2030-02-07T10:00:00Z' };
  test.each([
    ['single', { ...PERIOD, end: '2030-01-07T10:00:00Z', inputs: ['camera'] }],
    ['recurring', { ...PERIOD, duration: 3_600_000, rrule: 'FREQ=WEEKLY;BYDAY=MO,TH;BYHOUR=9;BYMINUTE=30' }],
  ])('%s scheduling that is not as it should be is refused or understood', async (_, scheduling) => {
    await fc.assert(
      fc.asyncProperty(hostileJson(JSON.stringify(scheduling)), async (hostile) => {
        // Recordings of the run before would stand in the way.
        await app.database.deleteFrom('events').execute();
        const { type, body } = form([...eventFields(), field('scheduling', hostile)]);
        const headers = { 'Content-Type': type };
        await new Judge(app).try({ method: 'POST', path: '/api/events', headers, body });
      }),
      { numRuns: 20 },
    );
    await new Judge(app).stillAnswers();
  });
});

describe('the migration that brings scheduling', () => {
  let database: DatabaseBefore;
  beforeAll(async () => {
    database = await createDatabaseBefore('0012');
    await database.client.query(`
      INSERT INTO events (id, title, creator, start_date, created, duration, processing_state) VALUES
        ('recorded', 'Lecture', 'Tester', '2026-04-13T08:15:00Z', now(), 5400000, 'SUCCEEDED'),
        ('running', 'Lecture', 'Tester', '2026-04-14T08:15:00Z', now(), NULL, 'RUNNING'),
        ('empty', 'Lecture', 'Tester', '2026-04-15T08:15:00Z', now(), 60000, '')`);
    await migrate(database.url);
  });
  afterAll(() => database?.close());

  const rowsOf = async (query: string) => (await database.client.query(query)).rows;
  const SHOWN = `SELECT id, agent_id, technical_start, technical_end, recording_state, status
    FROM events ORDER BY start_date`;

  test('gives older events their bibliographic times as technical ones, and a status', async () => {
    const shown = (id: string, start: string, end: string, status: string) => ({
      id,
      agent_id: '',
      technical_start: new Date(start),
      technical_end: new Date(end),
      recording_state: '',
      status,
    });
    expect(await rowsOf(SHOWN)).toEqual([
      shown('recorded', '2026-04-13T08:15:00Z', '2026-04-13T09:45:00Z', 'PROCESSED'),
      shown('running', '2026-04-14T08:15:00Z', '2026-04-14T08:15:00Z', 'PROCESSING'),
      shown('empty', '2026-04-15T08:15:00Z', '2026-04-15T08:16:00Z', 'PROCESSED'),
    ]);
  });

  test('leaves schedules and what events show of them alone when it runs again', async () => {
    const { client, url } = database;
    const all = 'SELECT * FROM schedules ORDER BY event_id';
    await client.query(`
      INSERT INTO capture_agents (id) VALUES ('room');
      INSERT INTO schedules (event_id, agent_id, start_date, end_date, gap_ms, allow_conflict, workflow) VALUES
        ('empty', 'room', '2030-01-07T08:00:00Z', '2030-01-07T09:00:00Z', 60000, false, 'publish'),
        ('running', 'room', '2030-01-07T08:30:00Z', '2030-01-07T10:00:00Z', 60000, true, 'publish')`);
    const [events, schedules] = [await rowsOf(SHOWN), await rowsOf(all)];
    expect(events.map(({ agent_id, status }) => [agent_id, status])).toEqual([
      ['', 'PROCESSED'],
      ['room', 'PROCESSING'],
      ['room', 'SCHEDULED'],
    ]);
    await client.query("DELETE FROM schema_migrations WHERE name LIKE '0012%'");
    expect(await migrate(url)).toEqual(['0012_scheduling.sql']);
    expect(await rowsOf(SHOWN)).toEqual(events);
    expect(await rowsOf(all)).toEqual(schedules);
  });
});
