import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { createDatabase, type Database, type Transaction } from '../../src/database/kysely.ts';
import { MIGRATION } from '../../src/database/limits.ts';
import { createPool } from '../../src/database/pool.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { claims, deleteScheduled, misclaimed, move, scheduleTogether } from '../support/schedules.ts';
import { newAgent } from '../support/scheduling.ts';

const WRITERS = 50;

let db: TestDatabase;
let database: Database;
let agentId: string;
beforeAll(async () => {
  db = await createTestDatabase();
  // The last of many waits for all others, which takes as long as it takes beside other tests.
  database = createDatabase(createPool(db.url, { max: 30, limits: MIGRATION, onError: () => undefined }));
});
afterAll(async () => {
  await database.destroy();
  await db.close();
});
beforeEach(() => {
  agentId = newAgent();
});

/** Tries once: a deadlock is no answer, it fails the test. */
async function attempt<T>(work: (trx: Transaction) => Promise<T>): Promise<T | 'refused'> {
  try {
    return await database.transaction().execute(work);
  } catch (error) {
    if (error instanceof Error && error.name === 'Overlap') return 'refused';
    throw error;
  }
}

const series = (first: number, length: number, count: number) =>
  Array.from({ length: count }, (_, index) => ({
    from: first + index * 100,
    to: first + index * 100 + length,
  }));

/** A seeded source of numbers from 0 up to a limit, so that a failure can be had again. */
function dice(seed: number): (limit: number) => number {
  let state = seed;
  return (limit) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * limit);
  };
}

test('of many recordings for one slot one is stored, also when nobody knew the agent', async () => {
  const answers = await Promise.all(
    Array.from({ length: WRITERS }, () => attempt((trx) => scheduleTogether(trx, agentId, series(0, 60, 1)))),
  );
  const stored = answers.filter((answer) => answer !== 'refused');
  expect(stored).toHaveLength(1);
  expect(await claims(db.database, agentId)).toEqual({ [String(stored[0])]: '0-60' });
});

test('of many sets of recordings that overlap each is stored whole or not at all', async () => {
  const answers = await Promise.all(
    Array.from({ length: WRITERS }, (_, writer) =>
      // Every fourth takes a third of the time, so that several fit beside one another.
      attempt((trx) => scheduleTogether(trx, agentId, series((writer * 37) % 100, writer % 4 ? 80 : 30, 20))),
    ),
  );
  const stored = answers.filter((answer) => answer !== 'refused');
  expect(stored.length).toBeGreaterThan(0);
  expect(stored.length).toBeLessThan(WRITERS);
  expect(Object.keys(await claims(db.database, agentId)).sort()).toEqual(stored.flat().sort());
  expect(await misclaimed(db.database)).toEqual([]);
});

test('recordings of two agents can change places at the same time', async () => {
  const other = newAgent();
  const here = await database
    .transaction()
    .execute((trx) => scheduleTogether(trx, agentId, series(0, 40, 15)));
  const there = await database
    .transaction()
    .execute((trx) => scheduleTogether(trx, other, series(50, 40, 15)));
  const answers = await Promise.all([
    ...here.map((id) => attempt((trx) => move(trx, id, { agentId: other }))),
    ...there.map((id) => attempt((trx) => move(trx, id, { agentId }))),
  ]);
  expect(answers).not.toContain('refused');
  expect(Object.keys(await claims(db.database, agentId)).sort()).toEqual(there.sort());
});

test('agents can become known to many at the same time, whichever way recordings move between them', async () => {
  const agents = Array.from({ length: 4 }, newAgent);
  const events = await database
    .transaction()
    .execute((trx) => scheduleTogether(trx, agentId, series(0, 40, 24)));
  const answers = await Promise.all(
    events.map((id, index) =>
      attempt(async (trx) => {
        await move(trx, id, { agentId: agents[index % 4] });
        return index;
      }),
    ),
  );
  expect(answers).toEqual(events.map((_, index) => index));
});

test('what agents report while recordings are scheduled neither fails nor lets a schedule fail', async () => {
  const report = () =>
    sql`INSERT INTO capture_agents (id, state, seen_at) VALUES (${agentId}, 'idle', now())
      ON CONFLICT (id) DO UPDATE SET state = 'capturing', seen_at = now()`.execute(database);
  const schedules = series(0, 60, 20).map((period) => [period]);
  const answers = await Promise.all(
    schedules.flatMap((periods) => [attempt((trx) => scheduleTogether(trx, agentId, periods)), report()]),
  );
  expect(answers).not.toContain('refused');
  expect(Object.keys(await claims(db.database, agentId))).toHaveLength(20);
});

test('claims share out what is occupied, whatever many writers do at once', async () => {
  const agents = [agentId, newAgent()];
  const events: string[] = [];
  const writer = async (seed: number) => {
    const roll = dice(seed);
    for (let step = 0; step < 25; step += 1) {
      const [agent = agentId, from, length] = [agents[roll(2)], roll(100), 1 + roll(40)];
      const slot = { agentId: agent, from, to: from + length, gap: roll(4) };
      const [eventId] = events.splice(roll(events.length), 1);
      const kind = roll(4);
      if (eventId === undefined || kind === 0) {
        const stored = await attempt((trx) => scheduleTogether(trx, agent, [slot], slot.gap));
        if (stored !== 'refused') events.push(...stored);
        if (eventId !== undefined) events.push(eventId);
      } else if (kind === 1) {
        await attempt((trx) => deleteScheduled(trx, eventId));
      } else {
        await attempt((trx) => move(trx, eventId, { ...slot, allowConflict: kind === 2 }));
        events.push(eventId);
      }
    }
  };
  await Promise.all(Array.from({ length: 12 }, (_, index) => writer(index + 1)));
  expect(await misclaimed(db.database)).toEqual([]);
  const counted = await sql<{ count: number }>`SELECT count(*) FROM schedules
    WHERE agent_id = ANY(${agents})`.execute(db.database);
  expect(counted.rows[0]?.count).toBe(events.length);
});
