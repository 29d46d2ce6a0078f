import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { withTimeout } from '../process/timeout.ts';
import { cutWhenSilent, LimitedClient, type Limits, limitedConnection, REQUEST_LIMITS } from './client.ts';
import { prepareMarked } from './prepared.ts';
import { isDatabaseOutage } from './retry.ts';

const INT8 = 20;
/** SQLSTATE of a write to a standby, or to a server with `default_transaction_read_only`. */
const READ_ONLY = '25006';
/** The longest wait for a connection of a busy pool; a new connection has its own limit. */
const LINE_MS = 60_000;
/** The time a closing pool waits for running queries. */
const END_MS = 3_000;

interface PoolOptions {
  max?: number;
  min?: number;
  limits?: Limits;
  /** Sets `search_path`; by default that of the server applies. */
  schema?: string;
  applicationName?: string;
  onError(error: Error): void;
}

/** Creates a pool. `bigint` columns are returned as numbers: all stay far below 2^53. */
export function createPool(url: string, options: PoolOptions): pg.Pool {
  const limits = options.limits ?? REQUEST_LIMITS;
  const types = new pg.TypeOverrides();
  types.setTypeParser(INT8, Number);
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
    types,
  });
  // A broken connection without a listener would end the process: the pool removes its own while a connection is in
  // use. The pool also reports idle ones.
  const clients = new Set<pg.Client>();
  const refused = new WeakSet<pg.ClientBase>();
  pool.on('connect', (connected) => {
    const client = connected as pg.PoolClient & pg.Client;
    client.on('error', options.onError);
    cutWhenSilent(client, limits);
    prepareMarked(client);
    client.connection.on('errorMessage', ({ code }: pg.DatabaseError) => {
      if (code === READ_ONLY) refused.add(client);
    });
    clients.add(client);
    client.once('end', () => clients.delete(client));
  });
  // A server that refuses writes may be the old primary: a new connection may lead to the new one. The pool keeps no
  // client that is closing, and looks at it after this event.
  pool.on('release', (_error, client) => {
    if (refused.has(client)) void (client as unknown as pg.Client).end();
  });
  pool.on('error', () => undefined);
  const end = pool.end.bind(pool) as () => Promise<void>;
  return Object.assign(pool, {
    end: async () => {
      // Whatever fails here, the connections are closed below.
      await withTimeout(end(), END_MS, 'The pool does not close.').catch(() => undefined);
      for (const client of clients) client.connection.stream.destroy();
    },
  });
}

const PAUSE_MS = 250;

/**
 * Makes `connect()` of a pool wait up to `waitMs` for a database that is down. No query was sent then, so nothing can
 * run twice. During an outage only one connection at a time is tried for all callers.
 */
export function withConnectRetry<Pool extends pg.Pool>(pool: Pool, waitMs: number): Pool {
  type Connect = (...args: unknown[]) => Promise<pg.PoolClient>;
  const connect = pool.connect.bind(pool) as unknown as Connect;
  let trial: Promise<void> | undefined;
  const isBack = async (until: number) => {
    while (performance.now() < until) {
      await sleep(PAUSE_MS);
      const isOver = await connect().then(
        (client) => {
          client.release();
          return true;
        },
        (error) => !isDatabaseOutage(error),
      );
      if (isOver) return;
    }
  };
  const patient = async () => {
    const until = performance.now() + waitMs;
    for (;;) {
      try {
        return await connect();
      } catch (error) {
        if (!isDatabaseOutage(error) || performance.now() + PAUSE_MS > until) throw error;
        trial ??= isBack(until).finally(() => {
          trial = undefined;
        });
        await trial;
      }
    }
  };
  // With a callback, as in the pool's own `query()`, the call does not wait.
  const either: Connect = (...args) => (args.length > 0 ? connect(...args) : patient());
  return Object.assign(pool, { connect: either });
}
