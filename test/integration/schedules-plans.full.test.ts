import { type CompiledQuery, Kysely, PostgresDialect, sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Transaction } from '../../src/database/kysely.ts';
import { createPool } from '../../src/database/pool.ts';
import type { DB } from '../../src/database/schema.ts';
import { conflictsWith } from '../../src/recordings/conflicts.ts';
import { markMissedBatch } from '../../src/recordings/state.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { admin, deleteScheduled, minute, move, scheduleTogether } from '../support/schedules.ts';

const AGENTS = 100;
const SCHEDULES_EACH = 200;
/** More than is read for each schedule that is written or looked for, and far less than one agent has. */
const MOST = 8;
/** Events that are moved or deleted. */
const TOUCHED = ['9-5', '9-6', '11-7', '12-7', '1-7'];

let db: TestDatabase;
beforeAll(async () => {
  db = await createTestDatabase();
  await sql`INSERT INTO capture_agents (id) SELECT 'room ' || i FROM generate_series(1, ${AGENTS}) AS i`.execute(
    db.database,
  );
  await db.database.transaction().execute(async (trx) => {
    // What else is derived of events takes long, and says nothing of schedules.
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
  await sql`ALTER TABLE events ENABLE TRIGGER USER`.execute(db.database);
  await sql`UPDATE events SET agent_id = '' WHERE id IN (${sql.join(TOUCHED)})`.execute(db.database);
  // One agent has as many that share their time as that.
  await sql`
    WITH others AS (INSERT INTO schedules (event_id, agent_id, start_date, end_date, workflow, allow_conflict)
      SELECT 'shares' || i, 'room 1', ${minute(30)}::timestamptz + i * interval '2 hours',
        ${minute(100)}::timestamptz + i * interval '2 hours', 'publish', true FROM generate_series(1, 20) AS i)
    INSERT INTO events (id, title, start_date, created, creator)
    SELECT 'shares' || i, 'Lecture', now(), now(), 'Tester' FROM generate_series(1, 20) AS i`.execute(
    db.database,
  );
  await sql`VACUUM ANALYZE schedules, events`.execute(db.database);
});
afterAll(() => db?.close());

interface Reads {
  whole: number;
  rows: number;
}

/** How often work reads all schedules, and how many it fetches by an index; those of triggers as well. */
async function readsOf(work: (trx: Transaction) => Promise<unknown>): Promise<Reads> {
  return await db.database.transaction().execute(async (trx) => {
    const counted = async () => {
      const { rows } = await sql<Reads>`SELECT seq_scan AS whole, idx_tup_fetch AS rows
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

describe('with many schedules of many agents, none reads them all:', () => {
  test.each<[string, number, (trx: Transaction) => Promise<unknown>]>([
    ['scheduling one more', 1, (trx) => scheduleTogether(trx, 'room 7', [{ from: 60_000, to: 60_060 }])],
    [
      'scheduling thirty more',
      30,
      (trx) =>
        scheduleTogether(
          trx,
          'room 8',
          Array.from({ length: 30 }, (_, i) => ({ from: i * 120 + 90, to: i * 120 + 120 })),
        ),
    ],
    ['moving one', 1, (trx) => move(trx, '9-5', { from: 60_000, to: 60_060 })],
    [
      'moving one to another agent',
      1,
      (trx) => move(trx, '9-6', { agentId: 'room 10', from: 60_000, to: 60_060 }),
    ],
    ['letting one overlap', 1, (trx) => move(trx, '11-7', { from: 1000, to: 1060, allowConflict: true })],
    ['deleting one', 1, (trx) => deleteScheduled(trx, '12-7')],
    ['deleting one whose time is shared', 1, (trx) => deleteScheduled(trx, '1-7')],
    ['looking up what one conflicts with', 1, (trx) => conflicts(trx, 'room 13', 1)],
    ['looking up what ten conflict with', 10, (trx) => conflicts(trx, 'room 13', 10)],
    ['looking up what ten conflict with where many overlap', 10, (trx) => conflicts(trx, 'room 1', 10)],
  ])('%s', async (_, size, work) => {
    const reads = await readsOf(work);
    expect(reads.whole).toBe(0);
    expect(reads.rows).toBeGreaterThan(0);
    expect(reads.rows).toBeLessThan(MOST * size);
  });
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
])(
  'what a hundred occurrences conflict with on %s is looked up in the index of the constraint',
  async (_, agentId, found) => {
    const queries: CompiledQuery[] = [];
    const pool = createPool(db.url, { max: 1, onError: () => undefined });
    const logged = new Kysely<DB>({
      dialect: new PostgresDialect({ pool }),
      log: ({ query }) => void queries.push(query),
    });
    try {
      const claim = { agentId, gapMs: 0, occurrences };
      expect(await conflictsWith(logged, admin, claim)).toHaveLength(found);
      const [query] = queries;
      const { rows } = await pool.query<{ 'QUERY PLAN': string }>(`EXPLAIN ANALYZE ${query?.sql}`, [
        ...(query?.parameters ?? []),
      ]);
      const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
      expect(plan).toMatch(/schedules_do_not_conflict.*\n.*Index Cond: \(\(agent_id = .* AND \(claimed && /);
      expect(plan).not.toMatch(/Seq Scan on (schedules|events)/);
    } finally {
      await logged.destroy();
    }
  },
);
