import { sql } from 'kysely';
import { beforeEach, describe, expect, test } from 'vitest';
import { databaseForThisFile } from '../support/database.ts';
import { insertEvent } from '../support/publication.ts';
import { claims, deleteScheduled, knownAgent, minute, REFUSED, storeBare } from '../support/schedules.ts';
import { newAgent } from '../support/scheduling.ts';

const db = databaseForThisFile();
let agentId: string;
beforeEach(async () => {
  agentId = await knownAgent(db.database);
});

const store = (from: number, to: number, gap = 0) => storeBare(db.database, { agentId, from, to, gap });
const moveBare = (eventId: string, from: number, to: number) =>
  sql`UPDATE schedules SET start_date = ${minute(from)}, end_date = ${minute(to)}
    WHERE event_id = ${eventId}`.execute(db.database);
const stored = async () => Object.values(await claims(db.database, agentId)).sort();

describe('what overlaps another recording of the agent cannot be stored', () => {
  test.each([
    ['is at the same time', 60, 120],
    ['lies within', 70, 80],
    ['lies around', 50, 130],
    ['reaches into its beginning', 30, 61],
    ['begins before its end', 119, 150],
  ])('when it %s', async (_, from, to) => {
    await store(60, 120);
    await expect(store(from, to)).rejects.toMatchObject(REFUSED);
    const other = await store(200, 210);
    await expect(moveBare(other, from, to)).rejects.toMatchObject(REFUSED);
    expect(await stored()).toEqual(['200-210', '60-120']);
  });

  test('when one of several overlaps another of the same statement', async () => {
    const all = sql`
      INSERT INTO schedules (event_id, agent_id, start_date, end_date, workflow)
      SELECT 'x' || i, ${agentId}, ${minute(0)}::timestamptz + i * interval '9 minutes',
        ${minute(10)}::timestamptz + i * interval '9 minutes', 'publish' FROM generate_series(1, 2) AS i`;
    await expect(all.execute(db.database)).rejects.toMatchObject(REFUSED);
  });

  test('when somebody writes by hand what it claims', async () => {
    const id = await store(60, 120);
    await sql`UPDATE schedules SET claimed = '{}', occupied = 'empty' WHERE event_id = ${id}`.execute(
      db.database,
    );
    await expect(store(60, 120)).rejects.toMatchObject(REFUSED);
  });

  test('when both come at the same time and nobody locks anything', async () => {
    const all = await Promise.allSettled(Array.from({ length: 4 }, () => store(60, 120)));
    expect(all.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect(await stored()).toEqual(['60-120']);
  });
});

test('recordings may touch', async () => {
  await store(60, 120);
  await store(120, 150);
  await store(30, 60);
  expect(await stored()).toEqual(['120-150', '30-60', '60-120']);
});

test('a recording of another agent never conflicts', async () => {
  await store(60, 120);
  agentId = await knownAgent(db.database);
  await store(60, 120);
  expect(await stored()).toEqual(['60-120']);
});

test('the minimum gap counts before and after a recording', async () => {
  await store(60, 120, 5);
  await expect(store(124, 150, 5)).rejects.toMatchObject(REFUSED);
  await expect(store(30, 56, 5)).rejects.toMatchObject(REFUSED);
  await store(125, 150, 5);
  await store(30, 55, 5);
  expect(await stored()).toEqual(['125-155', '30-60', '60-125']);
});

test('a recording moved within its own time does not conflict with itself', async () => {
  const id = await store(60, 120, 5);
  for (const [from, to] of [
    [70, 110],
    [60, 130],
    [119, 180],
    [60, 120],
  ] as const)
    await moveBare(id, from, to);
  expect(await stored()).toEqual(['60-125']);
});

test('the deletion of an event frees its time', async () => {
  await deleteScheduled(db.database, await store(60, 120));
  await store(90, 150);
  expect(await stored()).toEqual(['90-150']);
});

test.each([
  ['zero', 60, '23514'],
  ['negative', 59, '22000'],
])('a %s duration cannot be stored', async (_, to, code) => {
  await expect(store(60, to)).rejects.toMatchObject({ code });
});

test('a schedule of an agent that nobody knows cannot be stored', async () => {
  agentId = newAgent();
  await expect(store(60, 120)).rejects.toMatchObject({ code: '23503' });
});

test('a schedule may be written before its event, but not without one', async () => {
  const values = sql`INSERT INTO schedules (event_id, agent_id, start_date, end_date, workflow)
    VALUES ('no event', ${agentId}, ${minute(0)}, ${minute(10)}, 'publish')`;
  let isWritten = false;
  const commit = db.database.transaction().execute(async (trx) => {
    await values.execute(trx);
    isWritten = true;
  });
  await expect(commit).rejects.toMatchObject({ code: '23503' });
  expect(isWritten).toBe(true);
  await db.database.transaction().execute(async (trx) => {
    await values.execute(trx);
    await insertEvent(trx, { id: 'no event' });
  });
  expect(await stored()).toEqual(['0-10']);
});
