import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';

const SQLITE_BUSY = 5;
const POLL_MS = 25;

/** Runs the work under a file's lock, which ends with the process. Node has no file locks; SQLite has. */
export async function withLock<T>(path: string, work: () => T | Promise<T>): Promise<T> {
  const database = new DatabaseSync(path);
  try {
    while (!lock(database)) await sleep(POLL_MS);
    return await work();
  } finally {
    database.close();
  }
}

/** Reports whether a process, in this or another container, holds the lock of a file. */
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
    // Without a journal in memory, SQLite would create a file beside the lock.
    database.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE');
    return true;
  } catch (error) {
    if ((error as { errcode?: number }).errcode === SQLITE_BUSY) return false;
    throw error;
  }
}
