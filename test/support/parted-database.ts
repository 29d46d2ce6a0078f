import { createDatabase } from '#platform/database/kysely.ts';
import { createPool } from '#platform/database/pool.ts';
import { createTestDatabase } from './database.ts';
import { startProxyTo } from './proxy.ts';

/** A test database of one's own, and the same as a process reaches it: through something that can be parted. */
export async function createPartedDatabase() {
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
export type PartedDatabase = Awaited<ReturnType<typeof createPartedDatabase>>;
