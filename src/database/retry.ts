import { setTimeout as delay } from 'node:timers/promises';
import type { Database, Transaction } from './kysely.ts';

/** SQLSTATE of a transaction that PostgreSQL gave up in favour of another: serialization failure, deadlock. */
const GIVEN_UP = new Set(['40001', '40P01']);
const ATTEMPTS = 10;
const PAUSE_MS = 25;

/** What a transaction read before it held its locks has changed meanwhile: it has to start again. */
export class Outdated extends Error {
  override name = 'Outdated';
}

/**
 * Runs work in a transaction, and again when another one came between: after a deadlock, a serialization failure, or
 * when the work throws `Outdated`. The work must not touch anything but the database.
 */
export async function inTransaction<T>(
  database: Database,
  work: (trx: Transaction) => Promise<T>,
): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await database.transaction().execute(work);
    } catch (error) {
      if (attempt === ATTEMPTS || !mayPass(error)) throw error;
      await delay(Math.random() * PAUSE_MS * attempt);
    }
  }
}

/** Whether the same transaction may succeed when it is tried again. */
export function mayPass(error: unknown): boolean {
  if (error instanceof Outdated) return true;
  return error instanceof Error && 'code' in error && GIVEN_UP.has(String(error.code));
}
