import { setTimeout as pause } from 'node:timers/promises';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../test/support/database.ts';
import { withClock } from '../../test/support/database-clock.ts';
import { eventually } from '../../test/support/eventually.ts';
import { startProxy, type TestProxy } from '../../test/support/proxy.ts';
import { createDatabase } from './kysely.ts';
import { createPool } from './pool.ts';
import { couldSpeakFor, DatabaseWatch, type Watched } from './watch.ts';

let db: TestDatabase;
let proxy: TestProxy;
beforeAll(async () => {
  db = await createTestDatabase();
  const { hostname, port } = new URL(db.url);
  proxy = await startProxy(hostname, Number(port));
});
afterAll(async () => {
  await proxy?.stop();
  await db?.close();
});

async function judged(seconds: number, seen: Watched | undefined): Promise<boolean> {
  const { rows } = await sql<{ could: boolean }>`SELECT ${couldSpeakFor(seconds, seen)} AS could`.execute(
    db.database,
  );
  return rows[0]?.could ?? false;
}

const ago = (seconds: number) => new Date(Date.now() - seconds * 1000);

test('nobody is judged before the database has been seen for as long as they may be silent', async () => {
  expect(await judged(12, undefined)).toBe(false);
  // Seen some seconds ahead, and judged by many of them: the statements may come late.
  expect(await judged(60, { since: ago(10), until: ago(-4) })).toBe(false);
  expect(await judged(60, { since: ago(120), until: ago(-4) })).toBe(true);
});

test('nobody is judged when an outage may just have ended that no look has met yet', async () => {
  expect(await judged(12, { since: ago(600), until: ago(75) })).toBe(false);
});

test('nobody is judged when a clock that was set back is seen by nobody yet', async () => {
  expect(await judged(12, { since: ago(600), until: ago(-3600) })).toBe(false);
});

test('what was seen begins anew when the clock is set back', async () => {
  const clocked = await withClock(db);
  // Time goes on beside the steps, however slow the test is: that is no outage. An hour is.
  const watch = new DatabaseWatch(clocked.database, { lookMs: 1_000_000, gapMs: 600_000 });
  try {
    await eventually(() => expect(watch.seen).toBeDefined());
    const first = watch.seen?.since;
    await clocked.step(-1);
    await watch.look();
    expect(watch.seen?.since).toEqual(first);
    await clocked.step(-3600);
    await watch.look();
    expect(watch.seen?.since).toEqual(watch.seen?.until);
  } finally {
    watch.close();
    await clocked.close();
  }
});

test('what was seen begins anew with an outage, and goes on over a connection that breaks', async () => {
  const url = new URL(db.url);
  url.port = String(proxy.port);
  const pool = createPool(url.toString(), { onError: () => undefined });
  const database = createDatabase(pool);
  // Of a busy machine a look may come late, which is an outage to the one, and never to the other.
  const [watch, patient] = [500, 600_000].map((gapMs) => new DatabaseWatch(database, { lookMs: 20, gapMs }));
  const looked = async (since = new Date(0)) => {
    for (const each of [watch, patient])
      await eventually(() => expect(each?.seen?.until.getTime()).toBeGreaterThan(since.getTime()));
  };
  try {
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
  } finally {
    watch?.close();
    patient?.close();
    await pool.end();
  }
});
