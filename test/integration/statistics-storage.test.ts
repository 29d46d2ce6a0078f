import { sql } from 'kysely';
import { afterAll, beforeEach, expect, test } from 'vitest';
import { measureStorage } from '../../src/statistics/storage.ts';
import { sweepStatistics } from '../../src/statistics/sweep.ts';
import { storageOf } from '../../src/statistics/trends.queries.ts';
import { trendsOf } from '../../src/statistics/trends.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { insertEvent } from '../support/publication.ts';

let db: TestDatabase | undefined;
const database = () => {
  if (!db) throw new Error('There is a database in tests only.');
  return db.database;
};
beforeEach(async () => {
  await db?.close();
  db = await createTestDatabase();
});
afterAll(() => db?.close());

const run = (text: string) => sql.raw(text).execute(database());
const sizes = () => database().selectFrom('storage_sizes').selectAll().orderBy('hour').execute();
const trends = async () => {
  const now = new Date();
  return trendsOf('month', { counts: [], sizes: await storageOf(database(), now), now });
};

test('what is stored is measured once in an hour, by one of many processes', async () => {
  const done = await Promise.all(Array.from({ length: 8 }, () => measureStorage(database())));
  expect(done.filter(Boolean)).toHaveLength(1);
  expect(await measureStorage(database())).toBe(false);
  expect(await sizes()).toHaveLength(1);
  await run(`UPDATE storage_sizes SET hour = hour - interval '1 hour'`);
  expect(await measureStorage(database())).toBe(true);
  expect(await sizes()).toHaveLength(2);
});

test('every file is measured once: tracks, attachments, what was made of them, drafts and uploads', async () => {
  await insertEvent(database(), { id: 'event' });
  await run(`INSERT INTO drafts (id, door, owner, expires_at) VALUES ('draft', 'packages', 'ada', now())`);
  const file = (table: string, size: number, more: string, value: string) =>
    run(`INSERT INTO ${table} (id, flavor, filename, mediatype, object_key, size, sha256${more})
      SELECT gen_random_uuid(), 'presenter/source', 'a.mp4', 'video/mp4', gen_random_uuid(), ${size}, repeat('a1', 32)${value}`);
  await file('tracks', 50_000_000_000, ', event_id, position', `, 'event', 0`);
  await file('tracks', 10, ', event_id, position', `, 'event', 1`);
  await file('attachments', 7, ', event_id', `, 'event'`);
  await file('publication_elements', 1234, ', event_id, position, kind', `, 'event', 0, 'attachment'`);
  await file('draft_tracks', 100, ', draft_id, position', `, 'draft', 0`);
  await file('draft_attachments', 20, ', draft_id', `, 'draft'`);
  const upload = (id: string, event: string) =>
    run(`INSERT INTO uploads (id, owner, filename, object_key, handle, stored, rest_key, rest_bytes, expires_at, event_id)
      VALUES ('upload-${id}-0123456789', 'ada', 'a.mp4', '${id}', '', 3000, 'rest-${id}', 5, now(), ${event})`);
  await upload('unfinished', 'NULL');
  // Its bytes are a track by now.
  await upload('of-an-event', `'event'`);
  await measureStorage(database());
  const [size] = await sizes();
  expect(size).toMatchObject({
    received: 50_000_000_010 + 7,
    processed: 1234,
    unfinished: 100 + 20 + 3005,
  });
});

test('growth is what is more than a day, a week and a month ago, as far as that was measured', async () => {
  expect((await trends()).growth).toEqual([]);
  const at = (hours: number, bytes: number) =>
    run(
      `INSERT INTO storage_sizes VALUES (date_trunc('hour', now(), 'UTC') - interval '${hours} hours', ${bytes}, 0, 0)`,
    );
  await at(0, 1_000);
  expect((await trends()).growth.map(({ bytes }) => bytes)).toEqual([undefined, undefined, undefined]);
  await at(25, 900);
  await at(24 * 10, 300);
  await at(24 * 30, 1_200);
  // Ten days ago is no week ago.
  expect((await trends()).growth).toEqual([
    { days: 1, bytes: 100 },
    { days: 7, bytes: undefined },
    { days: 30, bytes: -200 },
  ]);
  await at(24 * 7, 250);
  expect((await trends()).growth[1]).toEqual({ days: 7, bytes: 750 });
});

test('counts are kept for thirteen months; sizes as well, but after a month of each day the first', async () => {
  await run(`INSERT INTO storage_sizes SELECT date_trunc('day', now(), 'UTC') - i * interval '6 hours', i, 0, 0
    FROM generate_series(0, 4 * 500) AS i`);
  await run(`INSERT INTO statistics_counts (period, start, measure, count)
    SELECT period, date_trunc('day', now(), 'UTC') - i * interval '1 day', 'upload', 1
    FROM generate_series(0, 500) AS i, unnest(ARRAY['hour', 'day']) AS period`);
  expect(await sweepStatistics(database())).toBeGreaterThan(0);
  const { rows } = await sql<{
    hourly: number;
    daily: number;
    days: number;
    counted: Date;
    first: Date;
    limit: Date;
  }>`
    SELECT count(*) FILTER (WHERE hour > now() - interval '30 days') AS hourly,
      count(*) FILTER (WHERE hour < now() - interval '33 days') AS daily,
      count(DISTINCT date_trunc('day', hour, 'UTC')) FILTER (WHERE hour < now() - interval '33 days') AS days,
      (SELECT min(start) FROM statistics_counts) AS counted, min(hour) AS first, now() - interval '13 months' AS limit
    FROM storage_sizes`.execute(database());
  const [kept] = rows;
  expect(kept?.hourly).toBeGreaterThanOrEqual(4 * 29);
  expect(kept?.daily).toBe(kept?.days);
  expect(kept?.days).toBeGreaterThan(350);
  for (const oldest of [kept?.counted, kept?.first]) {
    expect(oldest?.getTime()).toBeGreaterThanOrEqual(kept?.limit.getTime() ?? 0);
    expect(oldest?.getTime()).toBeLessThan((kept?.limit.getTime() ?? 0) + 2 * 86_400_000);
  }
  expect(await sweepStatistics(database())).toBe(0);
});
