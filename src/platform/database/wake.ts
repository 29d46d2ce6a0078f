import { sql } from 'kysely';
import type { Database } from './kysely.ts';

/** Channels to notify when the notification under way is done. */
const waiting = new WeakMap<Database, Set<string>>();

/**
 * Notifies channels of what has been committed, without waiting for it: many commits together where there are many. A
 * transaction that notifies by itself holds a lock of the whole server until it is on the disk, so that no two of them are
 * written at a time. For listeners that look by themselves when a notification is missed.
 */
export function wakeListeners(database: Database, channels: readonly string[]): void {
  const queued = waiting.get(database);
  if (queued) for (const channel of channels) queued.add(channel);
  else if (channels.length > 0) void notifyAll(database, new Set(channels));
}

async function notifyAll(database: Database, channels: Set<string>): Promise<void> {
  waiting.set(database, channels);
  try {
    while (channels.size > 0) {
      const now = [...channels];
      channels.clear();
      await sql`SELECT pg_notify(channel, '') FROM unnest(${now}::text[]) AS channel`.execute(database);
    }
  } catch {
    // They look by themselves.
  } finally {
    waiting.delete(database);
  }
}
