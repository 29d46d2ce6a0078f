import { setTimeout as delay } from 'node:timers/promises';
import type { Database, Transaction } from './kysely.ts';

const SOCKET = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
]);
/** SQLSTATE: connection exception, shutdown, startup, resources, disk errors, timeouts, read-only server. */
const SQLSTATE = /^(08...|57P0[1235]|53...|58...|57014|55P03|25P03|25006)$/;
/** SQLSTATE of a message that the server refuses, such as one with too many parameters. */
const REFUSED_MESSAGE = '08P01';
const MESSAGE =
  /^(timeout exceeded when trying to connect|timeout expired|Connection terminated( unexpectedly| due to connection timeout)?|Client has encountered a connection error and is not queryable)$/;
const DEPTH = 4;

/** Reports whether a query failed because of the database. Errors of the S3 client do not count. */
export function isDatabaseOutage(error: unknown, depth = DEPTH): boolean {
  if (!(error instanceof Error) || depth === 0 || '$metadata' in error) return false;
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  // Poolers give every error of theirs this code. One that ends the connection is fatal.
  if (code === REFUSED_MESSAGE) return 'severity' in error && error.severity === 'FATAL';
  return (
    SOCKET.has(code) || SQLSTATE.test(code) || MESSAGE.test(error.message) || isDatabaseOutage(error.cause, depth - 1)
  );
}

/** SQLSTATE of a transaction that PostgreSQL aborted in favour of another: serialization failure, deadlock. */
const CONFLICTS = new Set(['40001', '40P01']);
const ATTEMPTS = 10;
const PAUSE_MS = 25;
const FIRST_WAIT_MS = 250;
const LONGEST_WAIT_MS = 5_000;

/** Data that a transaction read before it took its locks has changed: it must run again. */
export class TransactionConflict extends Error {
  override name = 'TransactionConflict';
}

/** Runs work in a transaction, and again after a conflict. The work must not touch anything but the database. */
export async function inTransaction<T>(database: Database, work: (trx: Transaction) => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await database.transaction().execute(work);
    } catch (error) {
      if (attempt === ATTEMPTS || !isTransient(error)) throw error;
      await delay(Math.random() * PAUSE_MS * attempt);
    }
  }
}

/** Options for waiting while the database is down. */
export interface OutageWait {
  signal: AbortSignal;
  onWait(error: unknown, againInMs: number): void;
}

/**
 * Runs work, and again with growing pauses while the database is down. The work receives whether an earlier run may
 * have succeeded, because its answer was lost. @throws the error of the work
 */
export async function retryWhileDown<T>(
  { signal, onWait }: OutageWait,
  work: (doubtful: boolean) => Promise<T>,
): Promise<T> {
  for (let runs = 0; ; runs += 1) {
    try {
      return await work(runs > 0);
    } catch (error) {
      if (signal.aborted || !isDatabaseOutage(error)) throw error;
      const againInMs = Math.min(FIRST_WAIT_MS * 2 ** runs, LONGEST_WAIT_MS);
      onWait(error, againInMs);
      await delay(againInMs, undefined, { signal }).catch(() => undefined);
      if (signal.aborted) throw error;
    }
  }
}

/** Runs work in a transaction as `inTransaction` does, and waits for the database as `retryWhileDown` does. */
export async function inRetriedTransaction<T>(
  database: Database,
  patience: OutageWait,
  work: (trx: Transaction, doubtful: boolean) => Promise<T>,
): Promise<T> {
  return retryWhileDown(patience, (doubtful) => inTransaction(database, (trx) => work(trx, doubtful)));
}

/** Reports whether the same transaction may succeed when it runs again. */
export function isTransient(error: unknown): boolean {
  if (error instanceof TransactionConflict) return true;
  return error instanceof Error && 'code' in error && CONFLICTS.has(String(error.code));
}
