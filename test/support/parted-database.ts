import { createDatabase, type Database } from '../../src/database/kysely.ts';
import { createPool } from '../../src/database/pool.ts';
import { createTestDatabase, type TestDatabase } from './database.ts';
import { startProxyTo, type TestProxy } from './proxy.ts';

/** A test database of one's own, and the same as a process reaches it: through something that can be parted. */
export interface PartedDatabase {
  db: TestDatabase;
  proxy: TestProxy;
  database: Database;
  close(): Promise<void>;
}

export async function createPartedDatabase(): Promise<PartedDatabase> {
  const db = await createTestDatabase();
  const { proxy, url } = await startProxyTo(db.url);
  const pool = createPool(url, { onError: () => undefined });
  return {
    db,
    proxy,
    database: createDatabase(pool),
    close: async () => {
      await pool.end();
      await proxy.stop();
      await db.close();
    },
  };
}
