import { beforeEach, describe, expect, test } from 'vitest';
import { databaseForThisFile } from '../support/database.ts';
import {
  claims,
  deleteScheduled,
  knownAgent,
  misclaimed,
  move,
  REFUSED,
  type Slot,
  storeBare,
} from '../support/schedules.ts';

const db = databaseForThisFile();
let agentId: string;
beforeEach(async () => {
  agentId = await knownAgent(db.database);
});

const store = (from: number, to: number, slot: Partial<Slot> = {}) =>
  storeBare(db.database, { agentId, from, to, ...slot });
/** What an administrator lets overlap others, moved there from elsewhere. */
async function overlapping(from: number, to: number, gap = 0): Promise<string> {
  const id = await store(10_000 + from, 10_000 + to);
  await change(id, { from, to, gap, allowConflict: true });
  return id;
}
const change = (eventId: string, to: Partial<Slot>) =>
  db.database.transaction().execute((trx) => move(trx, eventId, to));

describe('once an administrator let two recordings overlap', () => {
  let first: string;
  let second: string;
  beforeEach(async () => {
    first = await store(60, 120);
    second = await overlapping(90, 150);
  });

  test.each([
    ['the first alone', 60, 70],
    ['what both share', 100, 110],
    ['the second alone', 140, 160],
  ])('another one that conflicts with %s is refused', async (_, from, to) => {
    await expect(store(from, to)).rejects.toMatchObject(REFUSED);
    const other = await store(200, 260);
    await expect(change(other, { from, to })).rejects.toThrow('Something else is to be recorded');
  });

  test('what touches both is stored', async () => {
    await store(150, 160);
    await store(50, 60);
    expect(await misclaimed(db.database)).toEqual([]);
  });

  test('deleting the first hands its time to the second', async () => {
    await deleteScheduled(db.database, first);
    expect(await claims(db.database, agentId)).toEqual({ [second]: '90-150' });
    await expect(store(100, 110)).rejects.toMatchObject(REFUSED);
    await store(60, 90);
  });

  test('deleting the second leaves the first its time', async () => {
    await deleteScheduled(db.database, second);
    expect(await claims(db.database, agentId)).toEqual({ [first]: '60-120' });
    await store(120, 150);
  });

  test.each([
    ['to another time', { from: 300, to: 360 }],
    ['to another agent', { agentId: 'elsewhere' }],
    ['to a shorter time', { to: 80 }],
  ])('moving the first %s hands its time to the second', async (_, to) => {
    await change(first, to);
    expect((await claims(db.database, agentId))[second]).toBe('90-150');
    expect(await misclaimed(db.database)).toEqual([]);
  });

  test('the second cannot be moved to where it still conflicts by somebody who may not let it', async () => {
    await expect(change(second, { from: 100 })).rejects.toThrow('Something else is to be recorded');
    await change(second, { from: 120 });
    expect(await claims(db.database, agentId)).toEqual({ [first]: '60-120', [second]: '120-150' });
  });

  test('the first cannot take more of what the second has', async () => {
    await expect(change(first, { to: 130 })).rejects.toThrow('Something else is to be recorded');
  });

  test('the inputs of the second can be changed by anybody', async () => {
    await change(second, {});
    expect(await claims(db.database, agentId)).toEqual({ [first]: '60-120', [second]: '120-150' });
  });
});

test('what an administrator may let overlap, but does not, claims its time like any other', async () => {
  const id = await overlapping(60, 120);
  expect(await claims(db.database, agentId)).toEqual({ [id]: '60-120' });
  await expect(store(90, 100)).rejects.toMatchObject(REFUSED);
});

test('a recording that lies within another claims nothing, and has it all when the other is gone', async () => {
  const around = await store(60, 120);
  const within = await overlapping(70, 80);
  expect(await claims(db.database, agentId)).toEqual({ [around]: '60-120', [within]: '' });
  await deleteScheduled(db.database, around);
  expect(await claims(db.database, agentId)).toEqual({ [within]: '70-80' });
});

test('a recording around two others claims what lies between them, gaps left out', async () => {
  await store(60, 80, { gap: 5 });
  await store(100, 120, { gap: 5 });
  const around = await overlapping(50, 140, 5);
  expect((await claims(db.database, agentId))[around]).toBe('50-60 85-100 125-145');
  await expect(store(85, 90)).rejects.toMatchObject(REFUSED);
});

test('many that overlap share out the time of the one that goes, the earliest first', async () => {
  const first = await store(0, 100);
  const others: string[] = [];
  for (const [from, to] of [
    [5, 8],
    [10, 30],
    [20, 50],
    [25, 40],
    [45, 60],
  ] as const) {
    others.push(await overlapping(from, to));
  }
  expect(Object.values(await claims(db.database, agentId)).sort()).toEqual(['', '', '', '', '', '0-100']);
  await deleteScheduled(db.database, first);
  const shares = await claims(db.database, agentId);
  expect(others.map((id) => shares[id])).toEqual(['5-8', '10-30', '30-50', '', '50-60']);
  expect(await misclaimed(db.database)).toEqual([]);
  for (const id of others) {
    await deleteScheduled(db.database, id);
    expect(await misclaimed(db.database)).toEqual([]);
  }
  await store(0, 100);
});
