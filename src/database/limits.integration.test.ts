import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import type pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../test/support/database.ts';
import { startProxyTo, type TestProxy } from '../../test/support/proxy.ts';
import { createDatabase, type Database } from './kysely.ts';
import { createClient, type Limits } from './limits.ts';
import { isDatabaseOutage } from './outage.ts';
import { createPool } from './pool.ts';

/** Far enough apart, and from what a statement takes, for a server that gets no processor for a while. */
const LIMITS: Limits = { statementMs: 2_000, silenceMs: 6_000, lockMs: 300, idleInTransactionMs: 2_000 };
/** What is silent is cut by then. */
const CUT_MS = 30_000;

let db: TestDatabase;
let proxy: TestProxy;
let url: string;
let pool: pg.Pool;
let database: Database;
beforeAll(async () => {
  db = await createTestDatabase();
  ({ proxy, url } = await startProxyTo(db.url));
});
afterAll(async () => {
  await proxy?.stop();
  await db?.close();
});
beforeEach(() => {
  pool = createPool(url, { max: 1, limits: LIMITS, onError: () => undefined });
  database = createDatabase(pool);
});
afterEach(async () => {
  await proxy.join();
  if (!pool.ending) await pool.end();
});

const answers = () => sql<{ one: number }>`SELECT 1 AS one`.execute(database);

/** How the work fails. @throws when it does not, or not within the time that anything silent has */
async function failure(work: Promise<unknown>): Promise<Error & { code?: string }> {
  const late = sleep(CUT_MS, new Error('It hangs.'), { ref: false });
  const outcome = await Promise.race([work, late]).catch((error: Error) => error);
  expect(outcome).toBeInstanceOf(Error);
  expect(outcome).not.toHaveProperty('message', 'It hangs.');
  return outcome as Error;
}

test('a query that is never answered fails as an outage, and the next one gets another connection', async () => {
  await answers();
  proxy.silence();
  const error = await failure(answers());
  expect(isDatabaseOutage(error)).toBe(true);
  await proxy.join();
  expect((await answers()).rows).toEqual([{ one: 1 }]);
});

test('a transaction that is never answered ends, and gives its connection up', async () => {
  const error = await failure(
    database.transaction().execute(async (trx) => {
      await sql`SELECT 1`.execute(trx);
      proxy.silence();
      await sql`SELECT 2`.execute(trx);
    }),
  );
  expect(isDatabaseOutage(error)).toBe(true);
  expect(pool.totalCount).toBe(0);
  await proxy.join();
  expect((await answers()).rows).toEqual([{ one: 1 }]);
});

test('a statement that takes too long is ended by the server; its connection stays', async () => {
  await answers();
  expect((await failure(sql`SELECT pg_sleep(30)`.execute(database))).code).toBe('57014');
  expect(pool.totalCount).toBe(1);
  expect((await answers()).rows).toEqual([{ one: 1 }]);
});

test('a statement does not wait for ever for what another has locked', async () => {
  await db.database.insertInto('series').values({ id: 'held' }).execute();
  const holder = await db.database.startTransaction().execute();
  await holder.updateTable('series').set({ title: 'a' }).where('id', '=', 'held').execute();
  const waiter = database.updateTable('series').set({ title: 'b' }).where('id', '=', 'held').execute();
  expect((await failure(waiter)).code).toBe('55P03');
  await holder.rollback().execute();
});

test('the locks of a transaction whose owner has gone silent are let go', async () => {
  await db.database.insertInto('series').values({ id: 'silent' }).execute();
  const silent = await database.startTransaction().execute();
  await silent.updateTable('series').set({ title: 'a' }).where('id', '=', 'silent').execute();
  proxy.silence();
  await db.database.updateTable('series').set({ title: 'b' }).where('id', '=', 'silent').execute();
  await silent
    .rollback()
    .execute()
    .catch(() => undefined);
});

test('a connection that never comes about is given up, as an outage', async () => {
  proxy.silence();
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  try {
    const outcome = answers().catch((error: Error) => error);
    await vi.advanceTimersByTimeAsync(20_000);
    expect(isDatabaseOutage(await outcome)).toBe(true);
  } finally {
    vi.useRealTimers();
  }
});

test('a pool ends although the other end says nothing', async () => {
  await answers();
  proxy.silence();
  const ended = pool.end().then(() => 'ended');
  expect(await Promise.race([ended, sleep(CUT_MS, 'hangs', { ref: false })])).toBe('ended');
});

test('a connection that was never made ends in peace', async () => {
  const client = createClient(url, { ...LIMITS, silenceMs: 50 }, 'inlet test');
  const failed = vi.fn();
  client.connection.stream.on('error', failed);
  await client.end();
  await sleep(200);
  expect(failed).not.toHaveBeenCalled();
});
