import { afterAll, beforeEach, expect, test } from 'vitest';
import { MIGRATION_LIMITS } from '#platform/database/client.ts';
import { createDatabase, type Transaction } from '#platform/database/kysely.ts';
import { createPool } from '#platform/database/pool.ts';
import { workerApp } from '../support/app.ts';
import { counts, post } from '../support/app-uploads.ts';
import { bytes } from '../support/bytes.ts';
import { file, type Part } from '../support/form.ts';
import { claims, deleteScheduled, misclaimed, move, scheduleTogether } from '../support/schedules.ts';
import { newAgent, scheduledFields } from '../support/scheduling.ts';

const WRITERS = 20;
const HOUR_MS = 3_600_000;

const app = await workerApp();
// The last of many writers waits for all before it, longer than the application allows.
const pool = createPool(app.context.config.databaseUrl ?? '', {
  max: WRITERS,
  limits: MIGRATION_LIMITS,
  onError: () => undefined,
});
const database = createDatabase(pool);
afterAll(() => database.destroy());
let agentId: string;
beforeEach(() => {
  agentId = newAgent();
});

/** Tries once: a deadlock is no refusal, it fails the test. */
async function attempt<T>(work: (trx: Transaction) => Promise<T>): Promise<T | 'refused'> {
  try {
    return await database.transaction().execute(work);
  } catch (error) {
    if (error instanceof Error && error.name === 'ScheduleOverlap') return 'refused';
    throw error;
  }
}

const many = <T>(work: (i: number) => Promise<T>, count = WRITERS) =>
  Promise.all(Array.from({ length: count }, (_, i) => work(i)));
const periods = (first: number, length: number, count: number) =>
  Array.from({ length: count }, (_, i) => ({ from: first + i * 100, to: first + i * 100 + length }));
const scheduled = (agent: string, ...slots: Parameters<typeof periods>) =>
  database.transaction().execute((trx) => scheduleTogether(trx, agent, periods(...slots)));
const claimants = async (agent: string) => Object.keys(await claims(database, agent)).sort();

/** A seeded source of numbers from 0 up to a limit, so that a failure can be repeated. */
function dice(seed: number): (limit: number) => number {
  let state = seed;
  return (limit) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * limit);
  };
}

test('of many sets of recordings that overlap each is stored whole or not at all, also when nobody knew the agent', async () => {
  const outcomes = await many((writer) =>
    // Every fourth takes a third of the time, so that several fit beside one another.
    attempt((trx) => scheduleTogether(trx, agentId, periods((writer * 37) % 100, writer % 4 ? 80 : 30, 20))),
  );
  const stored = outcomes.filter((outcome) => outcome !== 'refused');
  expect(stored.length).toBeGreaterThan(0);
  expect(stored.length).toBeLessThan(WRITERS);
  expect(await claimants(agentId)).toEqual(stored.flat().sort());
  expect(await misclaimed(database, agentId)).toEqual([]);
});

test('recordings of two agents can change places at the same time', async () => {
  const other = newAgent();
  const here = await scheduled(agentId, 0, 40, 10);
  const there = await scheduled(other, 50, 40, 10);
  const outcomes = await Promise.all([
    ...here.map((id) => attempt((trx) => move(trx, id, { agentId: other }))),
    ...there.map((id) => attempt((trx) => move(trx, id, { agentId }))),
  ]);
  expect(outcomes).not.toContain('refused');
  expect(await claimants(agentId)).toEqual(there.sort());
});

test('agents can become known to many at the same time, whichever way recordings move between them', async () => {
  const agents = Array.from({ length: 4 }, newAgent);
  const events = await scheduled(agentId, 0, 40, WRITERS);
  const outcomes = await many((i) => attempt((trx) => move(trx, events[i] ?? '', { agentId: agents[i % 4] })));
  expect(outcomes).not.toContain('refused');
});

test('agents that report while recordings are scheduled neither fail nor let a schedule fail', async () => {
  const report = () =>
    database
      .insertInto('capture_agents')
      .values({ id: agentId, state: 'idle', seen_at: new Date() })
      .onConflict((known) => known.column('id').doUpdateSet({ state: 'capturing' }))
      .execute();
  const outcomes = await Promise.all(
    periods(0, 60, WRITERS).flatMap((period) => [attempt((trx) => scheduleTogether(trx, agentId, [period])), report()]),
  );
  expect(outcomes).not.toContain('refused');
  expect(await claimants(agentId)).toHaveLength(WRITERS);
});

test('claims share out what is occupied, whatever many writers do at once', async () => {
  const agents = [agentId, newAgent()];
  const events: string[] = [];
  const writer = async (seed: number) => {
    const roll = dice(seed);
    for (let step = 0; step < 12; step += 1) {
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
  await many((i) => writer(i + 1), 10);
  expect(await misclaimed(database, ...agents)).toEqual([]);
  const stored = await Promise.all(agents.map(claimants));
  expect(stored.flat().sort()).toEqual(events.sort());
});

async function ask(parts: readonly Part[]): Promise<{ status: number; body: unknown }> {
  const answer = await post(app, parts);
  return { status: answer.status, body: await answer.json() };
}

test('of many requests for one slot, recordings in them, one gets it; the others leave nothing', async () => {
  const slot = { start: '2030-01-07T09:00:00Z', end: '2030-01-07T10:00:00Z' };
  const before = await counts(app);
  const answers = await many((i) =>
    ask([
      file('presenter', 'a.mp4', bytes(2000, i + 1)),
      ...scheduledFields({ agent_id: agentId, ...slot }, `Lecture ${i}`),
    ]),
  );
  const winner = answers.findIndex(({ status }) => status === 201);
  expect(answers.toSpliced(winner, 1)).toEqual(
    Array(WRITERS - 1).fill({ status: 409, body: [{ ...slot, title: `Lecture ${winner}` }] }),
  );
  const { identifier } = (answers[winner]?.body ?? {}) as { identifier?: string };
  expect(await claimants(agentId)).toEqual([identifier]);
  expect(await counts(app)).toEqual({ ...before, events: before.events + 1, stored: before.stored + 1 });
});

test('many requests for different agents, or for times that touch, all succeed', async () => {
  const answers = await many((i) => {
    const start = new Date(Date.UTC(2032, 0, 1) + Math.floor(i / 2) * HOUR_MS).toISOString();
    const agent_id = i % 2 === 0 ? agentId : newAgent();
    return ask(scheduledFields({ agent_id, start, duration: HOUR_MS }));
  });
  expect(answers.map(({ status }) => status)).toEqual(Array(WRITERS).fill(201));
});
