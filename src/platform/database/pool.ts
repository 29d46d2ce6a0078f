import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { cutWhenSilent, LimitedClient, type Limits, limitedConnection, USUAL } from './limits.ts';

const INT8 = 20;
/** How long somebody may wait in line for a connection while others use them all; a new one has a limit of its own. */
const LINE_MS = 60_000;
/** How long an ending pool waits for what is under way. */
const END_MS = 3_000;

/** How many connections a process keeps, and how long they may keep it waiting. */
export interface PoolOptions {
  max?: number;
  /** How many stay open although nobody uses them. */
  min?: number;
  /** Those of requests unless given. */
  limits?: Limits;
  /** Sets `search_path`; without it the server's default applies. */
  schema?: string;
  applicationName?: string;
  onError(error: Error): void;
}

/**
 * A pool of connections. `bigint` columns come back as numbers: identifiers, sizes and durations all stay far
 * below 2^53. Its `end()` cuts what is still under way after a moment.
 */
export function createPool(url: string, options: PoolOptions): pg.Pool {
  const limits = options.limits ?? USUAL;
  const pool = new pg.Pool({
    ...limitedConnection(limits),
    connectionTimeoutMillis: LINE_MS,
    Client: LimitedClient,
    connectionString: url,
    max: options.max ?? 10,
    min: options.min ?? 0,
    idleTimeoutMillis: 30_000,
    application_name: options.applicationName ?? 'inlet',
    options: options.schema ? `-c search_path=${options.schema}` : undefined,
    types: {
      getTypeParser: ((oid: number, format?: 'text' | 'binary') =>
        oid === INT8 && format !== 'binary'
          ? Number
          : pg.types.getTypeParser(oid, format as 'text')) as typeof pg.types.getTypeParser,
    },
  });
  // A connection that breaks would end the process without a listener: one in use, between two queries, has none of
  // the pool's. Idle ones the pool reports as well.
  const clients = new Set<pg.Client>();
  pool.on('connect', (connected) => {
    const client = connected as pg.PoolClient & pg.Client;
    client.on('error', options.onError);
    cutWhenSilent(client, limits);
    clients.add(client);
    client.once('end', () => clients.delete(client));
  });
  pool.on('error', () => undefined);
  const end = pool.end.bind(pool) as () => Promise<void>;
  return Object.assign(pool, {
    end: async () => {
      const over = new AbortController();
      await Promise.race([end(), sleep(END_MS, undefined, { signal: over.signal }).catch(() => undefined)]);
      over.abort();
      for (const client of clients) client.connection.stream.destroy();
    },
  });
}
