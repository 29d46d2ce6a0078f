import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { afterAll, beforeAll, inject } from 'vitest';
import { MIGRATION_LIMITS } from '#platform/database/client.ts';
import { createDatabase, type Database } from '#platform/database/kysely.ts';
import { createPool } from '#platform/database/pool.ts';
import { eventually } from './eventually.ts';

/** A database of its own for one test file, cloned from the migrated template; dropped by `close`. */
export interface TestDatabase {
  url: string;
  database: Database;
  close(): Promise<void>;
}

export async function createTestDatabase(): Promise<TestDatabase> {
  const { url, drop } = await cloneDatabase(inject('postgres').template);
  // What fills tables takes as long as it takes beside other tests.
  const pool = createPool(url, { limits: MIGRATION_LIMITS, onError: () => undefined });
  return {
    url,
    database: createDatabase(pool),
    close: async () => {
      await pool.end();
      await drop();
    },
  };
}

/** A database without a table, for tests of migrations. */
export function createEmptyDatabase(): Promise<{ url: string; drop(): Promise<void> }> {
  return cloneDatabase('template1');
}

async function cloneDatabase(template: string): Promise<{ url: string; drop(): Promise<void> }> {
  const { serverUrl } = inject('postgres');
  const name = `test_${randomUUID().replaceAll('-', '')}`;
  // The server waits a few seconds for a vacuum of the template to end, and then refuses.
  await eventually(() => onServer(serverUrl, `CREATE DATABASE ${name} TEMPLATE ${template}`));
  return {
    url: databaseUrl(serverUrl, name),
    // The server waits a few seconds for those that it ends, and then refuses.
    drop: () => eventually(() => onServer(serverUrl, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`)),
  };
}

/** A database of its own for the file that calls this at its top; to be used in its tests and hooks only. */
export function databaseForThisFile(): Pick<TestDatabase, 'url' | 'database'> {
  let created: TestDatabase | undefined;
  beforeAll(async () => {
    created = await createTestDatabase();
  });
  afterAll(() => created?.close());
  const get = () => {
    if (!created) throw new Error('The database is there when tests run, not yet when they are described.');
    return created;
  };
  return {
    get url() {
      return get().url;
    },
    get database() {
      return get().database;
    },
  };
}

export function databaseUrl(serverUrl: string, name: string): string {
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  return url.toString();
}

async function onServer(serverUrl: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: serverUrl });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}
