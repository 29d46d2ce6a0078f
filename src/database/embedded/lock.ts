import { DatabaseSync } from 'node:sqlite';

/** A lock that is held until it is released or the process is gone, in whatever way. */
export interface Lock {
  release(): void;
}

const SQLITE_BUSY = 5;

/**
 * Takes the lock of a file, or gives undefined when another process holds it. Node has no file locks of its own, but
 * those of SQLite are the kernel's, so none outlives its holder.
 */
export function tryLock(path: string): Lock | undefined {
  const database = new DatabaseSync(path);
  try {
    // Without it, a journal file would appear beside the lock.
    database.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE');
  } catch (error) {
    database.close();
    if ((error as { errcode?: number }).errcode === SQLITE_BUSY) return undefined;
    throw error;
  }
  return { release: () => database.close() };
}
