import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { applyMigrations } from '#cli/prepare-database.ts';
import { migrate, pendingMigrations } from '#platform/database/migrate.ts';
import { createEmptyDatabase } from '../support/database.ts';
import { dumpSchema } from '../support/schema-dump.ts';

const FILES = (await readdir(new URL('../../sql/', import.meta.url))).sort();

const undo: (() => Promise<unknown>)[] = [];

afterAll(async () => {
  for (const step of undo.reverse()) await step();
});

async function connect(url: string, application_name?: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url, application_name });
  await client.connect();
  undo.push(() => client.end());
  return client;
}

/** A database without a table, and a connection to it. */
async function emptyDatabase(): Promise<{ url: string; client: pg.Client }> {
  const { url, drop } = await createEmptyDatabase();
  undo.push(drop);
  return { url, client: await connect(url) };
}

async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'inlet-sql-'));
  undo.push(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

describe('migrate', () => {
  let url: string;
  let client: pg.Client;
  let folder: string;
  beforeAll(async () => {
    ({ url, client } = await emptyDatabase());
    folder = await temporaryFolder();
  });
  const write = (name: string, content: string) => writeFile(join(folder, name), content);
  const tables = async () => {
    const { rows } = await client.query(`SELECT table_name AS name FROM information_schema.tables
      WHERE table_schema = 'public' AND table_name LIKE 'migrated_%' ORDER BY 1`);
    return rows.map(({ name }) => name);
  };

  test('applies what is new once, in order, however many processes begin at the same moment', async () => {
    await write('0002_second.sql', 'CREATE TABLE migrated_b (a integer REFERENCES migrated_a)');
    await write('0001_first.sql', 'CREATE TABLE migrated_a (id integer PRIMARY KEY)');
    await write('notes.txt', 'no SQL at all');
    const both = ['0001_first.sql', '0002_second.sql'];
    expect(await pendingMigrations(url, folder)).toEqual(both);
    const applied = await Promise.all([1, 2, 3].map(() => migrate(url, folder)));
    expect(applied.filter((names) => names.length > 0)).toEqual([both]);
    expect(await tables()).toEqual(['migrated_a', 'migrated_b']);
    expect(await pendingMigrations(url, folder)).toEqual([]);
    expect(await migrate(url, folder)).toEqual([]);
  });

  test('leaves nothing of one that fails, names it, and applies those after it once it is mended', async () => {
    await write('0003_third.sql', 'CREATE TABLE migrated_c (); SELECT 1 / 0');
    await write('0004_fourth.sql', 'CREATE TABLE migrated_d ()');
    await expect(migrate(url, folder)).rejects.toThrow('Migration 0003_third.sql failed: division by zero');
    expect(await tables()).toEqual(['migrated_a', 'migrated_b']);
    await write('0003_third.sql', 'CREATE TABLE migrated_c ()');
    expect(await migrate(url, folder)).toEqual(['0003_third.sql', '0004_fourth.sql']);
    expect(await tables()).toEqual(['migrated_a', 'migrated_b', 'migrated_c', 'migrated_d']);
  });

  test('holds up no reader while it waits for a long transaction, and says what it waits for', async () => {
    await write('0005_fifth.sql', 'ALTER TABLE migrated_a ADD COLUMN note text');
    const backup = await connect(url, 'a backup');
    await backup.query('BEGIN; SELECT count(*) FROM migrated_a');
    const waits: string[] = [];
    let isApplied = false;
    const migrated = migrate(url, folder, undefined, (reason) => waits.push(reason));
    void migrated.finally(() => {
      isApplied = true;
    });
    // A reader comes through again and again; it would wait for as long as the transaction if nothing gave way.
    const read = () => client.query('SELECT count(*) FROM migrated_a').then(() => waits.length);
    await expect.poll(read).toBeGreaterThan(0);
    expect(isApplied).toBe(false);
    expect(waits[0]).toMatch(
      /^Migration 0005_fifth.sql waits for a lock; the oldest transaction, of "a backup", has been open for \d+ seconds. Retrying in 1 s.$/,
    );
    await backup.query('COMMIT');
    expect(await migrated).toEqual(['0005_fifth.sql']);
  });
});

describe('migrations that run again', () => {
  let url: string;
  let client: pg.Client;
  let schema: string[];
  beforeAll(async () => {
    ({ url, client } = await emptyDatabase());
    await applyMigrations(url);
    schema = await dumpSchema(client);
  });

  test('leave the schema as it is, should the database not know of them', async () => {
    // The dump knows what they make.
    for (const line of [
      'relation r bullmq.job',
      'relation r events',
      'extension btree_gist',
      'trigger O CREATE TRIGGER schedules_derived',
    ])
      expect(schema.some((each) => each.startsWith(line))).toBe(true);
    expect(await applyMigrations(url)).toEqual([]);
    await client.query('DELETE FROM schema_migrations');
    expect(await applyMigrations(url)).toEqual(FILES);
    expect(await dumpSchema(client)).toEqual(schema);
  });

  test('leave an event closed that its own empty list closes', async () => {
    await client.query(`
      INSERT INTO series (id, title, creator) VALUES ('open', '', '');
      INSERT INTO series_acl (series_id, position, role, action, allow) VALUES ('open', 0, 'ROLE_A', 'read', true);
      INSERT INTO events (id, start_date, created, creator, series_id, own_acl) VALUES
        ('closed', now(), now(), '', 'open', true), ('follows', now(), now(), '', 'open', false);
      DELETE FROM schema_migrations`);
    await applyMigrations(url);
    const { rows } = await client.query('SELECT id, read_roles FROM events ORDER BY id');
    expect(rows).toEqual([
      { id: 'closed', read_roles: [] },
      { id: 'follows', read_roles: ['ROLE_A'] },
    ]);
  });
});
