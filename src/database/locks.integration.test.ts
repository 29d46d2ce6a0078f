import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../test/support/database.ts';
import { silentLogger } from '../telemetry/log.ts';
import { type Holder, Locks } from './locks.ts';

const WAIT_MS = 30_000;
const nobody: Holder = { onWanted: () => undefined, onLost: () => undefined };

let db: TestDatabase;
let here: Locks;
let there: Locks;
beforeAll(async () => {
  db = await createTestDatabase();
});
beforeEach(() => {
  here = new Locks(db.url, silentLogger);
  there = new Locks(db.url, silentLogger);
});
afterEach(() => Promise.all([here.close(), there.close()]));
afterAll(() => db.close());

test.each([
  ['the same process', () => here],
  ['another process', () => there],
])('a lock is held once, and %s can have it afterwards', async (_who, other) => {
  const held = await here.take('a', nobody, WAIT_MS);
  expect(await other().take('a', nobody, 200)).toBeUndefined();
  expect(await other().take('b', nobody, 200)).toBeDefined();
  await held?.release();
  expect(await other().take('a', nobody, WAIT_MS)).toBeDefined();
});

test('whoever has waited for it is not asked for it itself', async () => {
  const held = await here.take('a', nobody, WAIT_MS);
  const wanted: string[] = [];
  const taking = there.take('a', { ...nobody, onWanted: () => wanted.push('a') }, WAIT_MS);
  await pause(500);
  await held?.release();
  expect(await taking).toBeDefined();
  await pause(500);
  expect(wanted).toEqual([]);
});

test('whoever holds one when the process is about to end, or takes one then, is asked for it', async () => {
  const wanted: string[] = [];
  const asked = (name: string): Holder => ({ ...nobody, onWanted: () => void wanted.push(name) });
  await here.take('a', asked('a'), WAIT_MS);
  here.wantAll();
  await here.take('b', asked('b'), WAIT_MS);
  expect(wanted).toEqual(['a', 'b']);
});

test('whoever holds it is asked for it now and then, not all the time, while another process waits', async () => {
  const onWanted = vi.fn();
  await here.take('a', { ...nobody, onWanted }, WAIT_MS);
  // It has a connection from now on.
  await there.take('b', nobody, WAIT_MS);
  expect(await there.take('a', nobody, 1000)).toBeUndefined();
  await vi.waitFor(() => expect(onWanted).toHaveBeenCalled(), WAIT_MS);
  expect(onWanted.mock.calls.length).toBeLessThan(15);
});

test.each([
  ['the same process', () => here],
  ['another process', () => there],
])('whoever holds it learns that %s wants it', async (_who, other) => {
  const held = await here.take('a', { ...nobody, onWanted: () => void held?.release() }, WAIT_MS);
  expect(await other().take('a', nobody, WAIT_MS)).toBeDefined();
});

test('of many at once in two processes one has it', async () => {
  let holders = 0;
  let most = 0;
  const use = async (locks: Locks) => {
    const held = await locks.take('a', nobody, 20_000);
    expect(held).toBeDefined();
    holders += 1;
    most = Math.max(most, holders);
    await new Promise((resolve) => setTimeout(resolve, 5));
    holders -= 1;
    await held?.release();
  };
  await Promise.all(Array.from({ length: 20 }, (_, i) => use(i % 2 ? here : there)));
  expect(most).toBe(1);
});

test('with its connection a lock is lost, its holder learns it, and others can have it at once', async () => {
  const onLost = vi.fn();
  const held = await here.take('a', { ...nobody, onLost }, WAIT_MS);
  const admin = new pg.Client(db.url);
  await admin.connect();
  await admin.query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE application_name = 'inlet locks' AND datname = current_database()`);
  await admin.end();
  expect(await there.take('a', nobody, WAIT_MS)).toBeDefined();
  await vi.waitFor(() => expect(onLost).toHaveBeenCalled(), WAIT_MS);
  await held?.release();
  expect(await here.take('a', nobody, 200)).toBeUndefined();
  expect(await here.take('b', nobody, WAIT_MS)).toBeDefined();
});

test('a database that is away is an error, and its return is enough', async () => {
  const away = new Locks('postgres://127.0.0.1:1/none', silentLogger);
  await expect(away.take('a', nobody, WAIT_MS)).rejects.toThrow('ECONNREFUSED');
  await away.close();
});
