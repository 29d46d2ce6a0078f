import { setTimeout as pause } from 'node:timers/promises';
import { sql } from 'kysely';
import type pg from 'pg';
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { databaseForThisFile } from '#test/support/database.ts';
import { withClock } from '#test/support/database-clock.ts';
import { eventually } from '#test/support/eventually.ts';
import { freePort } from '#test/support/free-port.ts';
import { startProxyTo, type TestProxy } from '#test/support/proxy.ts';
import { silentLogger } from '../telemetry/log.ts';
import { createClient, HEARTBEAT_LIMITS, type Limits } from './client.ts';
import { DatabaseWatch, type ObservedPeriod, observedFor } from './database-watch.ts';
import { createDatabase, type Database, type Transaction } from './kysely.ts';
import { Notifications } from './notifications.ts';
import { createPool, withConnectRetry } from './pool.ts';
import { isDatabaseOutage } from './retry.ts';

const db = databaseForThisFile();
let proxy: TestProxy;
/** The same database, through the proxy. */
let url: string;
beforeEach(async () => {
  ({ proxy, url } = await startProxyTo(db.url));
});
afterEach(() => proxy.stop());

/** A pool that is ended after the test. */
function poolOf(to: string, options: Partial<Parameters<typeof createPool>[1]> = {}): pg.Pool {
  const pool = createPool(to, { onError: () => undefined, ...options });
  onTestFinished(() => (pool.ending ? undefined : pool.end()));
  return pool;
}
const one = (database: Database | Transaction) =>
  sql<{ one: number }>`SELECT 1 AS one`.execute(database).then(({ rows }) => rows[0]?.one);
const failureOf = (work: Promise<unknown>): Promise<Error & { code?: string }> =>
  work.then(
    () => expect.fail('It did not fail.'),
    (error) => error,
  );

describe('limits', () => {
  /** Far enough apart, and from what a statement takes, for a server that gets no processor for a while. */
  const LIMITS: Limits = { statementMs: 1_000, silenceMs: 3_000, lockMs: 300, idleInTransactionMs: 1_000 };
  let pool: pg.Pool;
  let database: Database;
  beforeEach(() => {
    pool = poolOf(url, { max: 1, limits: LIMITS });
    database = createDatabase(pool);
  });
  afterEach(() => proxy.join());

  test('a transaction that is never answered fails as an outage, and gives its connection up for another', async () => {
    const error = await failureOf(
      database.transaction().execute(async (trx) => {
        await sql`SELECT 1`.execute(trx);
        proxy.silence();
        await sql`SELECT 2`.execute(trx);
      }),
    );
    expect(isDatabaseOutage(error)).toBe(true);
    expect(pool.totalCount).toBe(0);
    await proxy.join();
    expect(await one(database)).toBe(1);
  });

  test('the server stops a statement that takes too long; its connection stays', async () => {
    expect((await failureOf(sql`SELECT pg_sleep(30)`.execute(database))).code).toBe('57014');
    expect(pool.totalCount).toBe(1);
    expect(await one(database)).toBe(1);
  });

  test('a statement does not wait for ever for a lock, and those of an owner that has gone silent are released', async () => {
    await db.database.insertInto('series').values({ id: 'held' }).execute();
    const change = (on: Database | Transaction) =>
      on.updateTable('series').set({ title: 'a' }).where('id', '=', 'held').execute();
    const holder = await db.database.startTransaction().execute();
    await change(holder);
    expect((await failureOf(change(database))).code).toBe('55P03');
    await holder.rollback().execute();
    const silent = await database.startTransaction().execute();
    await change(silent);
    proxy.silence();
    await change(db.database);
    await failureOf(silent.rollback().execute());
  });

  test('a connection that never comes about is given up, as an outage', async () => {
    proxy.silence();
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const outcome = failureOf(one(database));
    await vi.advanceTimersByTimeAsync(20_000);
    expect(isDatabaseOutage(await outcome)).toBe(true);
  });

  test('a pool ends although the other end is silent', async () => {
    await one(database);
    proxy.silence();
    await pool.end();
  });

  test('a connection that was never made ends in peace', async () => {
    const client = createClient(url, { ...LIMITS, silenceMs: 50 }, 'inlet test');
    const failed = vi.fn();
    client.connection.stream.on('error', failed);
    await client.end();
    await pause(200);
    expect(failed).not.toHaveBeenCalled();
  });
});

describe('an outage', () => {
  test('is a server that refuses, a connection that is cut, and a pool that waits in vain', async () => {
    const refused = poolOf(`postgres://nobody@127.0.0.1:${await freePort()}/none`);
    expect(isDatabaseOutage(await failureOf(refused.query('SELECT 1')))).toBe(true);
    const pool = poolOf(db.url, { max: 1 });
    const cut = pool.query("SELECT pg_terminate_backend(pg_backend_pid()), 'cut'");
    expect(isDatabaseOutage(await failureOf(cut))).toBe(true);
    const client = await pool.connect();
    pool.options.connectionTimeoutMillis = 1;
    expect(isDatabaseOutage(await failureOf(pool.query('SELECT 1')))).toBe(true);
    client.release();
  });

  test.each([
    ['a statement', (database: Database) => sql`CREATE TABLE never ()`.execute(database)],
    [
      'a transaction',
      (database: Database) =>
        database.transaction().execute(async (trx) => {
          await one(trx);
          await sql`CREATE TABLE never ()`.execute(trx);
        }),
    ],
  ])('is a server that has become read-only, whose connection %s gives up for another', async (_, write) => {
    const pool = poolOf(db.url, { max: 1 });
    const database = createDatabase(pool);
    const session = async () => (await sql<{ pid: number }>`SELECT pg_backend_pid() AS pid`.execute(database)).rows;
    await sql`SET default_transaction_read_only = on`.execute(database);
    const before = await session();
    const error = await failureOf(write(database));
    expect([isDatabaseOutage(error), error.code]).toEqual([true, '25006']);
    expect(await session()).not.toEqual(before);
  });

  test.each(['57P01', '57P02', '57P03', '25006'])('has the SQLSTATE %s', (code) => {
    expect(isDatabaseOutage(Object.assign(new Error('The server is not a primary.'), { code }))).toBe(true);
  });

  test('is a connection that a pooler ends', () => {
    const ended = Object.assign(new Error('query_wait_timeout'), { code: '08P01', severity: 'FATAL' });
    expect(isDatabaseOutage(ended)).toBe(true);
  });

  test('is neither a wrong query nor what the object storage cannot reach', async () => {
    const pool = poolOf(db.url);
    expect(isDatabaseOutage(await failureOf(pool.query('SELEKT')))).toBe(false);
    const tooMany = await failureOf(pool.query('SELECT 1', Array(2 ** 16).fill(1)));
    expect([isDatabaseOutage(tooMany), tooMany.code]).toEqual([false, '08P01']);
    const refused = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
    expect(isDatabaseOutage(new Error('query failed', { cause: refused }))).toBe(true);
    expect(isDatabaseOutage(Object.assign(refused, { $metadata: { attempts: 3 } }))).toBe(false);
  });
});

describe('a pool that waits while the database is away', () => {
  const waiting = (waitMs: number) => createDatabase(withConnectRetry(poolOf(url, { max: 3 }), waitMs));

  test.each(['part', 'hangUp'] as const)('answers when it is back: %s', async (way) => {
    const database = waiting(20_000);
    expect(await one(database)).toBe(1);
    await proxy.part();
    // What was connected has to be found broken, or it is asked.
    await pause(100);
    await proxy.join();
    await proxy[way]();
    let answered = 0;
    const answers = Array.from({ length: 30 }, async () => {
      const answer = await one(database);
      answered += 1;
      return answer;
    });
    await pause(700);
    expect(answered).toBe(0);
    await proxy.join();
    expect(new Set(await Promise.all(answers))).toEqual(new Set([1]));
  });

  test('waits no longer than it may', async () => {
    const database = waiting(600);
    await proxy.part();
    const failures = await Promise.all(Array.from({ length: 10 }, () => failureOf(one(database))));
    expect(failures.every((error) => isDatabaseOutage(error))).toBe(true);
    await proxy.join();
    expect(await one(database)).toBe(1);
  });
});

describe('notifications', () => {
  test('that were missed while the connection was silent are made up for, and later ones are heard', async () => {
    const heard = vi.fn();
    /** On a busy machine a connection that lives is given up as well: then one more is made up for. */
    const heardAfter = async (act: () => unknown) => {
      const before = heard.mock.calls.length;
      await act();
      await eventually(() => expect(heard.mock.calls.length).toBeGreaterThan(before));
    };
    const notify = () => sql`NOTIFY something`.execute(db.database);
    const limits = { ...HEARTBEAT_LIMITS, silenceMs: 1_000 };
    const notifications = new Notifications(url, silentLogger, { probeMs: 50, limits });
    onTestFinished(() => notifications.close());
    await heardAfter(() => notifications.listen('something', heard));
    await heardAfter(notify);
    // For good: nothing that was sent on this connection arrives any more.
    proxy.lose();
    await heardAfter(notify);
    await heardAfter(notify);
  });

  test('come over one connection to the listeners of their channel, and to none that is closed', async () => {
    const notifications = new Notifications(db.url, silentLogger);
    onTestFinished(() => notifications.close());
    const [first, second, late] = [vi.fn(), vi.fn(), vi.fn()];
    const listener = notifications.listen('first', first);
    notifications.listen('second', second);
    await eventually(() => expect([first.mock.calls, second.mock.calls]).toEqual([[[]], [[]]]));
    notifications.listen('first', late);
    await eventually(() => expect(late.mock.calls).toEqual([[]]));
    listener.close();
    await sql`SELECT pg_notify('first', 'one'), pg_notify('second', 'two')`.execute(db.database);
    await eventually(() => {
      expect(late.mock.calls).toEqual([[], ['one']]);
      expect(second.mock.calls).toEqual([[], ['two']]);
    });
    expect(first.mock.calls).toEqual([[]]);
    // That of the test before may be about to end.
    const connections = () =>
      sql`SELECT FROM pg_stat_activity WHERE datname = current_database()
        AND application_name = 'inlet listener'`.execute(db.database);
    await expect.poll(async () => (await connections()).rows).toHaveLength(1);
  });
});

describe('the watch', () => {
  const ago = (seconds: number) => new Date(Date.now() - seconds * 1000);

  test.each<[string, number, [number, number] | undefined, boolean]>([
    ['before the database has been seen', 12, undefined, false],
    // Seen some seconds ahead, and judged by many of them: the statements may come late.
    ['before it has been seen for as long as they may be silent', 60, [10, -4], false],
    ['once it has been seen for so long', 60, [120, -4], true],
    ['when an outage may just have ended that no look has met yet', 12, [600, 75], false],
    ['when the clock was set back and nobody has looked since', 12, [600, -3600], false],
  ])('judges the silent %s: %#', async (_when, seconds, times, judged) => {
    const seen: ObservedPeriod | undefined = times && { since: ago(times[0]), until: ago(times[1]) };
    const query = sql<{ could: boolean }>`SELECT ${observedFor(seconds, seen)} AS could`;
    expect((await query.execute(db.database)).rows).toEqual([{ could: judged }]);
  });

  test('starts over when the clock is set back', async () => {
    const clocked = await withClock(db);
    onTestFinished(clocked.close);
    // Time passes beside the steps, however slow the test is: that is no outage. An hour is.
    const watch = new DatabaseWatch(clocked.database, { lookMs: 1_000_000, gapMs: 600_000 });
    onTestFinished(() => watch.close());
    await eventually(() => expect(watch.seen).toBeDefined());
    const first = watch.seen?.since;
    await clocked.step(-1);
    await watch.look();
    expect(watch.seen?.since).toEqual(first);
    await clocked.step(-3600);
    await watch.look();
    expect(watch.seen?.since).toEqual(watch.seen?.until);
  });

  test('starts over with an outage, and not with a connection that breaks', async () => {
    const database = createDatabase(poolOf(url));
    // On a busy machine a look may come late, which is an outage to the one, and never to the other.
    const watches = [500, 600_000].map((gapMs) => new DatabaseWatch(database, { lookMs: 20, gapMs }));
    onTestFinished(() => watches.forEach((each) => void each.close()));
    const [watch, patient] = watches;
    const looked = (since = new Date(0)) =>
      eventually(() => {
        for (const { seen } of watches) expect(seen?.until.getTime()).toBeGreaterThan(since.getTime());
      });
    await looked();
    const first = patient?.seen?.since;
    await proxy.part();
    await proxy.join();
    await looked(patient?.seen?.until);
    expect(patient?.seen?.since).toEqual(first);

    await proxy.part();
    await pause(50);
    const before = watch?.seen;
    await pause(700);
    expect(watch?.seen).toEqual(before);
    const back = new Date();
    await proxy.join();
    await eventually(() => expect(watch?.seen?.since.getTime()).toBeGreaterThanOrEqual(back.getTime()));
    await looked(back);
    expect(patient?.seen?.since).toEqual(first);
  });
});
