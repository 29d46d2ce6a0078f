import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';

const SQLITE_BUSY = 5;
const POLL_MS = 25;

/**
 * Does the work as soon as nobody else holds the lock of a file, which ends with the work or the process, in whatever
 * way. Node has no file locks of its own, but those of SQLite are the kernel's.
 */
export async function withLock<T>(path: string, work: () => T | Promise<T>): Promise<T> {
  const database = new DatabaseSync(path);
  try {
    while (!lock(database)) await sleep(POLL_MS);
    return await work();
  } finally {
    database.close();
  }
}

/** Whether somebody holds the lock of a file, in this container or in another. */
export function isLocked(path: string): boolean {
  const database = new DatabaseSync(path);
  try {
    return !lock(database);
  } finally {
    database.close();
  }
}

function lock(database: DatabaseSync): boolean {
  try {
    // Without a journal in memory, a file would appear beside the lock.
    database.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE');
    return true;
  } catch (error) {
    if ((error as { errcode?: number }).errcode === SQLITE_BUSY) return false;
    throw error;
  }
}
