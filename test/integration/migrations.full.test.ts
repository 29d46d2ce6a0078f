import { cp, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createApp } from '#app/app.ts';
import { createContext } from '#app/context.ts';
import { applyMigrations } from '#cli/prepare-database.ts';
import { loadConfig } from '#platform/config/config.ts';
import { migrate } from '#platform/database/migrate.ts';
import { silentLogger } from '#platform/telemetry/log.ts';
import { ADMIN } from '../support/app.ts';
import { createEmptyDatabase } from '../support/database.ts';
import { ERA_ROWS } from '../support/era-rows.ts';
import { dumpSchema } from '../support/schema-dump.ts';

const SQL = fileURLToPath(new URL('../../sql/', import.meta.url));
const FILES = (await readdir(SQL)).sort();
/** Tables into which a migration moves the rows of others; views of their names show those rows. */
const GROWING: Readonly<Record<string, string>> = { '0038_direct_drafts.sql': 'drafts' };

/** Direct uploads of the rows, as the account that asked for them sees them. */
const DIRECT_UPLOADS = {
  'direct-open': { state: 'waiting', max_bytes: 100, files: [{ flavor: 'presenter/source', offset: 0 }] },
  'direct-between': { state: 'waiting', max_bytes: 100, files: [{ field: 'presenter', offset: 0 }] },
  'direct-finished': {
    state: 'finished',
    event_identifier: 'event-1',
    files: [{ filename: 'a.mp4', offset: 9 }],
  },
  'direct-failed': { state: 'failed', reason: 'The account is gone.' },
  'direct-expired': { state: 'expired' },
};

describe('a database that was in use all the time', () => {
  let url: string;
  let client: pg.Client;
  let folder: string;
  const undo: (() => Promise<unknown>)[] = [];
  beforeAll(async () => {
    const { drop, ...made } = await createEmptyDatabase();
    undo.push(drop);
    ({ url } = made);
    client = new pg.Client(url);
    await client.connect();
    undo.push(() => client.end());
    folder = await mkdtemp(join(tmpdir(), 'inlet-sql-'));
    undo.push(() => rm(folder, { recursive: true, force: true }));
  });
  afterAll(async () => {
    for (const step of undo.reverse()) await step();
  });

  test.each(FILES)('keeps its rows through %s', async (file) => {
    const before = await readTables(client);
    // Each of its tables had to go through with something in it.
    const empty = [...before.values()].filter(({ rows }) => rows.length === 0);
    expect(empty.map(({ name }) => name)).toEqual([]);
    await cp(join(SQL, file), join(folder, file));
    const growing = before.values().find(({ name }) => name === GROWING[file]);
    if (growing) Object.assign(growing, { rows: expect.arrayContaining(growing.rows) });
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
    const fresh = await createEmptyDatabase();
    undo.push(fresh.drop);
    await migrate(fresh.url);
    const other = new pg.Client(fresh.url);
    undo.push(() => other.end());
    await other.connect();
    expect(await dumpSchema(client)).toEqual(await dumpSchema(other));
  });

  describe('when this version serves it', () => {
    let app: Awaited<ReturnType<typeof createApp>>;
    beforeAll(async () => {
      await applyMigrations(url);
      const config = loadConfig({ DATABASE_URL: url, DATA_DIR: folder });
      const context = await createContext(config, 'api', { log: silentLogger });
      undo.push(context.close);
      app = await createApp(context);
    });
    const read = async (path: string) => {
      const answer = await app.request(path, { headers: { Authorization: ADMIN } });
      expect(answer.status, path).toBe(200);
      return answer.json();
    };

    test('shows its events and series', async () => {
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

    test.each(Object.entries(DIRECT_UPLOADS))('shows the direct upload %s', async (id, state) => {
      expect(await read(`/api/uploads/${id}`)).toMatchObject(state);
    });

    test.each([
      ['open', 204],
      ['between', 204],
      ['failed', 422],
      ['expired', 410],
    ])('answers at the address of the direct upload that is %s', async (token, status) => {
      const stream = { 'Content-Type': 'application/offset+octet-stream', 'Upload-Offset': '0' };
      const headers = { 'Tus-Resumable': '1.0.0', 'Upload-Length': '9', ...stream };
      const body = Buffer.alloc(9);
      const answer = await app.request(`/direct-uploads/${token}`, { method: 'PATCH', headers, body });
      expect(answer.status, await answer.text()).toBe(status);
      if (status !== 204) return;
      const event = answer.headers.get('Inlet-Event-Id');
      expect(await read(`/api/events/${event}`)).toMatchObject({ title: 'Sent later', creator: 'Ada L.' });
    });
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
 * @param like only these tables, by the names they had, with the columns that they had; one that is a view now stands
 * for the table
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
    isView: boolean;
  }>(`
    SELECT pg_class.oid::integer, relname AS table, attnum AS number, quote_ident(attname) AS column,
      relkind = 'v' AS "isView"
    FROM pg_class JOIN pg_attribute ON attrelid = pg_class.oid
    WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'v') AND relname <> 'schema_migrations'
      AND attnum > 0 AND NOT attisdropped AND attgenerated = ''
    ORDER BY pg_class.oid, attnum`);
  const tables = new Map<number, TableRows>();
  for (const [oid, own] of Map.groupBy(columns, (each) => each.oid)) {
    const [{ table = '', isView = false } = {}] = own;
    const key = isView ? like?.keys().find((former) => like.get(former)?.name === table) : oid;
    const known = key === undefined ? undefined : like?.get(key);
    if (key === undefined || (like && !known)) continue;
    const wanted = own.filter(({ number }) => !known || known.columns.includes(number));
    const values = wanted.map(({ number, column }) => `'${number}', ${column}`).join();
    const { rows } = await client.query<{ row: string }>(
      `SELECT jsonb_build_object(${values})::text AS row FROM ${table} ORDER BY 1`,
    );
    tables.set(key, {
      name: known?.name ?? table,
      columns: wanted.map(({ number }) => number),
      rows: rows.map(({ row }) => row),
    });
  }
  return tables;
}
