import { cp, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createApp } from '../../src/app.ts';
import { applyMigrations } from '../../src/cli/migrations.ts';
import { loadConfig } from '../../src/config.ts';
import { createContext } from '../../src/context.ts';
import { migrate, pendingMigrations } from '../../src/database/migrate.ts';
import { silentLogger } from '../../src/telemetry/log.ts';
import { ADMIN } from '../support/app.ts';
import { createEmptyDatabase } from '../support/database.ts';
import { ERA_ROWS } from '../support/era-rows.ts';
import { dumpSchema } from '../support/schema-dump.ts';

const SQL = fileURLToPath(new URL('../../sql/', import.meta.url));
const FILES = (await readdir(SQL)).sort();

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
      /^Migration 0005_fifth.sql waits for a lock; the oldest transaction is of "a backup", open for \d+ seconds. Trying again in 1 s.$/,
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
      'trigger O CREATE TRIGGER schedules_claim',
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

describe('a database that was in use all the time', () => {
  let url: string;
  let client: pg.Client;
  let folder: string;
  beforeAll(async () => {
    ({ url, client } = await emptyDatabase());
    folder = await temporaryFolder();
  });

  test.each(FILES)('keeps its rows through %s', async (file) => {
    const before = await readTables(client);
    // Each of its tables had to go through with something in it.
    const empty = [...before.values()].filter(({ rows }) => rows.length === 0);
    expect(empty.map(({ name }) => name)).toEqual([]);
    await cp(join(SQL, file), join(folder, file));
    expect(await migrate(url, folder)).toEqual([file]);
    expect(await readTables(client, before)).toEqual(before);

    const schema = await dumpSchema(client);
    await client.query('DELETE FROM schema_migrations WHERE name = $1', [file]);
    expect(await migrate(url, folder)).toEqual([file]);
    expect(await dumpSchema(client)).toEqual(schema);
    expect(await readTables(client, before)).toEqual(before);

    await client.query(ERA_ROWS[file.slice(0, 4)] ?? '');
  });

  test('comes to the same schema as a new one', async () => {
    const { url, client: other } = await emptyDatabase();
    await migrate(url);
    expect(await dumpSchema(client)).toEqual(await dumpSchema(other));
  });

  test('shows its events and series', async () => {
    await applyMigrations(url);
    const config = loadConfig({ DATABASE_URL: url, DATA_DIR: folder });
    const context = await createContext(config, 'api', { log: silentLogger });
    undo.push(context.close);
    const app = await createApp(context);
    const read = async (path: string) => {
      const answer = await app.request(path, { headers: { Authorization: ADMIN } });
      expect(answer.status).toBe(200);
      return answer.json();
    };
    const extras = 'withacl=true&withmetadata=true&withpublications=true&withscheduling=true';
    const events = (await read(`/api/events?${extras}&sort=start_date:ASC`)) as { identifier: string }[];
    expect(events.map(({ identifier }) => identifier).sort()).toEqual(await identifiers('events'));
    expect(events.find(({ identifier }) => identifier === 'event-1')).toMatchObject({
      series: 'Mathematics ü "1"',
      status: 'EVENTS.EVENTS.STATUS.PROCESSED',
      acl: [{ role: 'ROLE_READER' }, { role: 'ROLE_OTHER' }],
      publications: [{ channel: 'engage-player', media: [{ size: 1234 }] }],
    });
    const series = (await read('/api/series?withacl=true')) as { identifier: string }[];
    expect(series.map(({ identifier }) => identifier).sort()).toEqual(await identifiers('series'));
  });

  async function identifiers(table: string): Promise<string[]> {
    const { rows } = await client.query<{ id: string }>(`SELECT id FROM ${table}`);
    expect(rows.length).toBeGreaterThan(0);
    return rows.map(({ id }) => id).sort();
  }
});

/** The rows of a table, each as the values of its columns by their numbers, which no renaming changes. */
interface TableRows {
  name: string;
  columns: number[];
  rows: string[];
}

/**
 * Reads Inlet's tables; generated columns, which hold nothing of their own, are left out.
 *
 * @param like only these tables, by the names they had, with the columns that they had
 * @returns by the number of the table
 */
async function readTables(
  client: pg.Client,
  like: Map<number, TableRows> | undefined = undefined,
): Promise<Map<number, TableRows>> {
  const { rows: columns } = await client.query<{
    oid: number;
    table: string;
    number: number;
    column: string;
  }>(`
    SELECT pg_class.oid::integer, relname AS table, attnum AS number, quote_ident(attname) AS column
    FROM pg_class JOIN pg_attribute ON attrelid = pg_class.oid
    WHERE relnamespace = current_schema()::regnamespace AND relkind = 'r' AND relname <> 'schema_migrations'
      AND attnum > 0 AND NOT attisdropped AND attgenerated = ''
    ORDER BY pg_class.oid, attnum`);
  const tables = new Map<number, TableRows>();
  for (const [oid, own] of Map.groupBy(columns, (each) => each.oid)) {
    const known = like?.get(oid);
    if (like && !known) continue;
    const wanted = own.filter(({ number }) => !known || known.columns.includes(number));
    const values = wanted.map(({ number, column }) => `'${number}', ${column}`).join();
    const { rows } = await client.query<{ row: string }>(
      `SELECT jsonb_build_object(${values})::text AS row FROM ${own[0]?.table} ORDER BY 1`,
    );
    tables.set(oid, {
      name: known?.name ?? own[0]?.table ?? '',
      columns: wanted.map(({ number }) => number),
      rows: rows.map(({ row }) => row),
    });
  }
  return tables;
}
