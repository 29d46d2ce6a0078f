import { cp, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { migrate } from '#platform/database/migrate.ts';
import { createEmptyDatabase } from './database.ts';

const SQL = fileURLToPath(new URL('../../sql/', import.meta.url));

/** A database as an earlier version left it, and a connection to it; both are gone after `close`. */
export interface DatabaseBefore {
  url: string;
  client: pg.Client;
  close(): Promise<void>;
}

/** @param migration the number of the first migration that it has not had, such as "0012" */
export async function createDatabaseBefore(migration: string): Promise<DatabaseBefore> {
  const folder = await mkdtemp(join(tmpdir(), 'inlet-sql-'));
  const { url, drop } = await createEmptyDatabase();
  try {
    const files = (await readdir(SQL)).filter((file) => file < migration);
    for (const file of files) await cp(join(SQL, file), join(folder, file));
    await migrate(url, folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  return {
    url,
    client,
    close: async () => {
      await client.end();
      await drop();
    },
  };
}
