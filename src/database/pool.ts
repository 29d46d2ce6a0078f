import pg from 'pg';

const INT8 = 20;

/** Which statements may wait how long, and how many connections a process keeps. */
export interface PoolOptions {
  max?: number;
  /** Sets `search_path`; without it the server's default applies. */
  schema?: string;
  applicationName?: string;
  onError(error: Error): void;
}

/**
 * A pool of connections. `bigint` columns come back as numbers: identifiers, sizes and durations all stay far
 * below 2^53.
 */
export function createPool(url: string, options: PoolOptions): pg.Pool {
  const pool = new pg.Pool({
    connectionString: url,
    max: options.max ?? 10,
    connectionTimeoutMillis: 10_000,
    idleTimeoutMillis: 30_000,
    keepAlive: true,
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
  pool.on('connect', (client) => client.on('error', options.onError));
  pool.on('error', () => undefined);
  return pool;
}
