import pg from 'pg';
import { startTolerantTimer } from '../process/timeout.ts';

/** Time limits of a connection, in milliseconds. `pg` itself waits forever. */
export interface Limits {
  /** The longest statement. The server cancels a longer one. */
  statementMs: number;
  /** The longest wait for an answer. Longer than `statementMs`, because the server answers a cancelled statement. */
  silenceMs: number;
  lockMs: number;
  /** The longest pause inside a transaction: its client may be gone, and its locks block other transactions. */
  idleInTransactionMs: number;
}

/** For requests and loops. Their longest statement creates a thousand events in less than a second. */
export const REQUEST_LIMITS: Limits = {
  statementMs: 30_000,
  silenceMs: 32_000,
  lockMs: 10_000,
  idleInTransactionMs: 60_000,
};
/** For heartbeats and checks, which are repeated soon. */
export const HEARTBEAT_LIMITS: Limits = {
  statementMs: 5_000,
  silenceMs: 6_000,
  lockMs: 3_000,
  idleInTransactionMs: 10_000,
};
/** For migrations, which may rewrite a table. Concurrent migrations wait for each other. */
export const MIGRATION_LIMITS: Limits = {
  statementMs: 3_600_000,
  silenceMs: 3_660_000,
  lockMs: 3_600_000,
  idleInTransactionMs: 3_600_000,
};

/** The longest time to connect: several round trips, which are slow in a busy process. */
const CONNECT_MS = 20_000;
/** The longest time for the server to close a connection. */
const END_MS = 2_000;

/** A client that fails when it cannot connect in time. The time starts with its creation. */
export class LimitedClient extends pg.Client {
  constructor(config?: pg.ClientConfig) {
    super({ ...config, connectionTimeoutMillis: 0 });
    const late = () => this.connection.stream.destroy(silenceError(CONNECT_MS));
    const cancel = startTolerantTimer(CONNECT_MS, late);
    this.once('connect', cancel).once('end', cancel).connection.once('error', cancel);
  }
}

/** Returns the options that make the server, the operating system and the driver enforce the limits. */
export function limitedConnection(limits: Limits): pg.ClientConfig {
  return {
    statement_timeout: limits.statementMs,
    lock_timeout: limits.lockMs,
    idle_in_transaction_session_timeout: limits.idleInTransactionMs,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
  };
}

/**
 * Closes a connection that answers later than the server would have cancelled the query, or does not close.
 * (`query_timeout` of `pg` fails only the query, and the next user of the connection waits behind it.)
 */
export function cutWhenSilent(client: pg.Client, limits: Limits): void {
  let unanswered = 0;
  let cancel: () => void = () => undefined;
  const watch = (ms = limits.silenceMs) => {
    cancel();
    cancel = startTolerantTimer(ms, () => client.connection.stream.destroy(silenceError(ms)));
  };
  const query = client.query.bind(client) as (...args: unknown[]) => unknown;
  const end = client.end.bind(client) as (...args: unknown[]) => unknown;
  Object.assign(client, {
    query: (...args: unknown[]) => {
      unanswered += 1;
      if (unanswered === 1) watch();
      return query(...args);
    },
    end: (...args: unknown[]) => {
      watch(Math.min(END_MS, limits.silenceMs));
      const ended = end(...args);
      // A connection that was never made closes immediately, and nothing listens to its socket.
      if (ended instanceof Promise) ended.then(cancel, cancel);
      return ended;
    },
  });
  client.connection.on('readyForQuery', () => {
    unanswered = Math.max(0, unanswered - 1);
    if (unanswered > 0) watch();
    else cancel();
  });
  client.connection.once('end', () => cancel());
}

function silenceError(ms: number): Error {
  return Object.assign(new Error(`The database has not answered for ${ms} ms.`), { code: 'ETIMEDOUT' });
}

/** Creates a separate connection with the limits; it is not connected yet. */
export function createClient(connectionString: string, limits: Limits, applicationName: string): pg.Client {
  const client = new LimitedClient({
    ...limitedConnection(limits),
    connectionString,
    application_name: applicationName,
  });
  cutWhenSilent(client, limits);
  return client;
}

export type WatchedClient = ReturnType<typeof createWatchedClient>;

/**
 * Creates a separate connection for notifications. Its loss goes unnoticed while it is idle, so it is probed.
 *
 * @param options.onLost called once when the connection breaks, fails or is closed
 */
export function createWatchedClient(
  databaseUrl: string,
  applicationName: string,
  options: {
    limits: Limits;
    probeMs: number;
    onNotification: (message: pg.Notification) => void;
    onLost: (error: Error) => void;
  },
) {
  const client = createClient(databaseUrl, options.limits, applicationName);
  let probe: NodeJS.Timeout | undefined;
  let lost = false;
  let closed = false;
  let last: Promise<unknown> = Promise.resolve();

  /** Runs statements one after another, as the driver requires. */
  const ask = <Row extends pg.QueryResultRow>(text: string, values?: string[]): Promise<pg.QueryResult<Row>> => {
    const asked = last.then(() => client.query<Row>(text, values));
    last = asked.catch(() => undefined);
    return asked;
  };
  const close = async () => {
    closed = true;
    clearTimeout(probe);
    await client.end().catch(() => undefined);
  };
  const lose = (error: Error) => {
    if (lost) return;
    lost = true;
    void close();
    options.onLost(error);
  };
  const probeLater = () => {
    if (closed) return;
    probe = setTimeout(() => ask('SELECT 1').then(probeLater, lose), options.probeMs).unref();
  };
  const open = async (statement: string) => {
    try {
      await client.connect();
      await ask(statement);
    } catch (error) {
      lose(error instanceof Error ? error : new Error(String(error)));
      throw error;
    }
    probeLater();
  };
  client.on('notification', options.onNotification);
  client.on('error', lose);
  client.on('end', () => lose(new Error('The connection was closed.')));
  return { open, ask, close };
}
