import { sql } from 'kysely';
import type { Database } from './kysely.ts';

/** Channels to notify after the running notification. */
const waiting = new WeakMap<Database, Set<string>>();

/**
 * Notifies channels of a commit without waiting, many commits together under load. A transaction that notifies holds a
 * lock of the whole server until it is on disk, so only one of them is written at a time. For listeners that also poll,
 * in case a notification is missed.
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
    // The listeners poll.
  } finally {
    waiting.delete(database);
  }
}
