import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { databaseForThisFile } from '../../test/support/database.ts';
import { migrate, pendingMigrations } from './migrate.ts';

const db = databaseForThisFile();
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'inlet-migrate-'));
});
afterAll(() => rm(folder, { recursive: true }));

const write = (name: string, content: string) => writeFile(join(folder, name), content);
const tables = async () => {
  const { rows } = await sql<{ name: string }>`SELECT table_name AS name FROM information_schema.tables
    WHERE table_schema = 'public' AND table_name LIKE 'migrated_%' ORDER BY 1`.execute(db.database);
  return rows.map(({ name }) => name);
};

test('a migrated database is left alone', async () => {
  const files = (await readdir(new URL('../../sql/', import.meta.url))).filter((name) =>
    name.endsWith('.sql'),
  );
  const applied = sql<{
    name: string;
    at: Date;
  }>`SELECT name, applied_at AS at FROM schema_migrations ORDER BY 1`;
  const { rows } = await applied.execute(db.database);
  expect(rows.map(({ name }) => name)).toEqual(files.sort());
  expect(await pendingMigrations(db.url)).toEqual([]);
  expect(await migrate(db.url)).toEqual([]);
  expect((await applied.execute(db.database)).rows).toEqual(rows);
});

test('what is new is applied once, in order, however many processes begin at the same moment', async () => {
  await write('0002_second.sql', 'CREATE TABLE migrated_b (a integer REFERENCES migrated_a)');
  await write('0001_first.sql', 'CREATE TABLE migrated_a (id integer PRIMARY KEY)');
  await write('notes.txt', 'no SQL at all');
  expect(await pendingMigrations(db.url, folder)).toEqual(['0001_first.sql', '0002_second.sql']);
  const applied = await Promise.all([1, 2, 3].map(() => migrate(db.url, folder)));
  expect(applied.filter((names) => names.length > 0)).toEqual([['0001_first.sql', '0002_second.sql']]);
  expect(await tables()).toEqual(['migrated_a', 'migrated_b']);
});

test('one that fails leaves nothing, is named, and holds up those after it until it is mended', async () => {
  await write('0003_third.sql', 'CREATE TABLE migrated_c (); SELECT 1 / 0');
  await write('0004_fourth.sql', 'CREATE TABLE migrated_d ()');
  await expect(migrate(db.url, folder)).rejects.toThrow('Migration 0003_third.sql failed: division by zero');
  expect(await tables()).toEqual(['migrated_a', 'migrated_b']);
  await write('0003_third.sql', 'CREATE TABLE migrated_c ()');
  expect(await migrate(db.url, folder)).toEqual(['0003_third.sql', '0004_fourth.sql']);
  expect(await tables()).toEqual(['migrated_a', 'migrated_b', 'migrated_c', 'migrated_d']);
});

test('one that has to wait for a long transaction holds up no reader meanwhile, and says what it waits for', async () => {
  await write('0005_fifth.sql', 'ALTER TABLE migrated_a ADD COLUMN note text');
  const backup = new pg.Client({ connectionString: db.url, application_name: 'a backup' });
  await backup.connect();
  await backup.query('BEGIN; SELECT count(*) FROM migrated_a');
  const waits: string[] = [];
  let applied: string[] | undefined;
  const migrated = migrate(db.url, folder, undefined, (reason) => waits.push(reason)).then((names) => {
    applied = names;
  });
  let slowest = 0;
  try {
    // Until it has waited, and has had the time to wait once more.
    const end = Date.now() + 6_000;
    while (Date.now() < end || (waits.length < 2 && Date.now() < end + 60_000)) {
      await sleep(50);
      const begun = performance.now();
      await sql`SELECT count(*) FROM migrated_a`.execute(db.database);
      slowest = Math.max(slowest, performance.now() - begun);
    }
    // Two seconds, and what a busy machine adds; for as long as the transaction if nothing gave way.
    expect(slowest).toBeLessThan(15_000);
    expect(applied).toBeUndefined();
    expect(waits[0]).toMatch(
      /^Migration 0005_fifth.sql waits for a lock; the oldest transaction is of "a backup", open for \d+ seconds. Trying again in 1 s.$/,
    );
  } finally {
    await backup.end();
    await migrated;
  }
  expect(applied).toEqual(['0005_fifth.sql']);
});
