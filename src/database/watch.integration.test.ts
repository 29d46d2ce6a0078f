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
  expect(await judged(12, { since: ago(10), until: new Date() })).toBe(false);
  expect(await judged(12, { since: ago(20), until: new Date() })).toBe(true);
});

test('nobody is judged when an outage may just have ended that no look has met yet', async () => {
  expect(await judged(12, { since: ago(600), until: ago(75) })).toBe(false);
});

test('nobody is judged when a clock that was set back is seen by nobody yet', async () => {
  expect(await judged(12, { since: ago(600), until: ago(-3600) })).toBe(false);
});

test('what was seen begins anew when the clock is set back', async () => {
  const clocked = await withClock(db);
  const watch = new DatabaseWatch(clocked.database, { lookMs: 1_000_000 });
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
  const watch = new DatabaseWatch(createDatabase(pool), { lookMs: 20, gapMs: 500 });
  try {
    await eventually(() => expect(watch.seen).toBeDefined());
    const first = watch.seen?.since;
    await proxy.part();
    await proxy.join();
    const after = watch.seen?.until.getTime() ?? 0;
    await eventually(() => expect(watch.seen?.until.getTime()).toBeGreaterThan(after));
    expect(watch.seen?.since).toEqual(first);

    await proxy.part();
    await pause(700);
    expect(watch.seen?.since).toEqual(first);
    const back = new Date();
    await proxy.join();
    await eventually(() => expect(watch.seen?.since.getTime()).toBeGreaterThanOrEqual(back.getTime()));
  } finally {
    watch.close();
    await pool.end();
  }
});
