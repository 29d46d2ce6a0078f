import pg from 'pg';
import { patientTimer } from '../process/timeout.ts';

/** How long a connection may keep somebody waiting, in milliseconds. `pg` itself waits for ever. */
export interface Limits {
  /** The longest statement. The server ends a longer one. */
  statementMs: number;
  /** Of a statement that the server would have ended before, the answer is here by then, or never comes. */
  silenceMs: number;
  /** How long a statement waits for what others have locked. */
  lockMs: number;
  /** How long a transaction may do nothing: its owner may be gone without a word, and its locks hold up others. */
  idleInTransactionMs: number;
}

/** For requests and loops: their longest statement, one rule that makes a thousand events, takes less than a second. */
export const USUAL: Limits = {
  statementMs: 30_000,
  silenceMs: 32_000,
  lockMs: 10_000,
  idleInTransactionMs: 60_000,
};
/** For signs of life and checks, which come again in a moment. */
export const VITAL: Limits = {
  statementMs: 5_000,
  silenceMs: 6_000,
  lockMs: 3_000,
  idleInTransactionMs: 10_000,
};
/** For migrations, which may rewrite a table; one of several at once waits for the others. */
export const MIGRATION: Limits = {
  statementMs: 3_600_000,
  silenceMs: 3_660_000,
  lockMs: 3_600_000,
  idleInTransactionMs: 3_600_000,
};

/** How long a connection may take to come about; several round trips, which take their time in a busy process. */
const CONNECT_MS = 20_000;
/** How long the other end may take to hang up. */
const END_MS = 2_000;

/** A connection that gives up when it does not come about; its time begins when it is made. */
export class LimitedClient extends pg.Client {
  constructor(config?: pg.ClientConfig) {
    super({ ...config, connectionTimeoutMillis: 0 });
    const late = () => this.connection.stream.destroy(silence(CONNECT_MS));
    const cancel = patientTimer(CONNECT_MS, late);
    this.once('connect', cancel).once('end', cancel).connection.once('error', cancel);
  }
}

/** What makes the server, the operating system and the driver keep the limits, for `pg.Client` and `pg.Pool`. */
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
 * Cuts a connection that has gone silent: one that answers a query later than the server would have ended it, or
 * does not end. What waits for it fails then; a pool gives it to nobody else. (`query_timeout` of `pg` fails the query
 * only, and the next user of the connection waits behind it.)
 */
export function cutWhenSilent(client: pg.Client, limits: Limits): void {
  let unanswered = 0;
  let cancel: () => void = () => undefined;
  const watch = (ms = limits.silenceMs) => {
    cancel();
    cancel = patientTimer(ms, () => client.connection.stream.destroy(silence(ms)));
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
      // One that was never made ends at once, and nobody listens to its socket.
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

function silence(ms: number): Error {
  return Object.assign(new Error(`The database has said nothing for ${ms} ms.`), { code: 'ETIMEDOUT' });
}

/** A connection of its own that keeps the limits; not yet connected. */
export function createClient(connectionString: string, limits: Limits, applicationName: string): pg.Client {
  const client = new LimitedClient({
    ...limitedConnection(limits),
    connectionString,
    application_name: applicationName,
  });
  cutWhenSilent(client, limits);
  return client;
}
