import { sql } from 'kysely';
import pg from 'pg';
import type { Logger } from '../telemetry/log.ts';
import { createWatchedClient, HEARTBEAT_LIMITS, type Limits, type WatchedClient } from './client.ts';
import type { Database } from './kysely.ts';

const RECONNECT_MS = 1_000;
const PROBE_MS = 10_000;

/** Receives the payloads of a channel; undefined when notifications may have been missed. */
type NotificationListener = (payload?: string) => void;

export interface Subscription {
  close(): void;
}

/**
 * Notifications from the database on any number of channels. The database wakes every listening connection for each
 * notification, so a process has one connection for all channels, reopened when it is lost.
 */
export class Notifications {
  readonly #databaseUrl: string;
  readonly #log: Logger;
  readonly #options: { probeMs?: number; limits?: Limits };
  readonly #channels = new Map<string, Set<NotificationListener>>();
  #client: WatchedClient | undefined;
  #open = false;
  #retry: NodeJS.Timeout | undefined;
  #closed = false;

  /** @param options.probeMs interval of the query that checks whether the idle connection still works */
  constructor(databaseUrl: string, log: Logger, options: { probeMs?: number; limits?: Limits } = {}) {
    this.#databaseUrl = databaseUrl;
    this.#log = log;
    this.#options = options;
  }

  /** Calls the listener for each notification of a channel, and once without a payload whenever listening starts. */
  listen(channel: string, hear: NotificationListener): Subscription {
    const known = this.#channels.get(channel);
    const hearing = known ?? new Set<NotificationListener>();
    this.#channels.set(channel, hearing.add(hear));
    if (!this.#client) this.#connect();
    else if (this.#open) void this.#begin(this.#client, [channel], [hear]);
    return { close: () => void hearing.delete(hear) };
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#retry);
    await this.#client?.close();
  }

  #connect(): void {
    if (this.#closed) return;
    this.#open = false;
    const client = createWatchedClient(this.#databaseUrl, 'inlet listener', {
      limits: HEARTBEAT_LIMITS,
      probeMs: PROBE_MS,
      ...this.#options,
      onNotification: ({ channel, payload }) => {
        for (const hear of this.#channels.get(channel) ?? []) hear(payload);
      },
      onLost: (error) => {
        this.#open = false;
        if (this.#closed) return;
        this.#log.warn({ reason: error.message }, 'lost the connection that listens to the database; reconnecting');
        this.#retry = setTimeout(() => this.#connect(), RECONNECT_MS);
      },
    });
    this.#client = client;
    client.open('SELECT 1').then(
      () => {
        this.#open = true;
        const hearing = [...this.#channels.values()].flatMap((each) => [...each]);
        void this.#begin(client, [...this.#channels.keys()], hearing);
      },
      () => undefined,
    );
  }

  /** A connection on which this fails is replaced. */
  async #begin(
    client: WatchedClient,
    channels: readonly string[],
    hearing: readonly NotificationListener[],
  ): Promise<void> {
    const statements = channels.map((channel) => `LISTEN ${pg.escapeIdentifier(channel)}`);
    try {
      await client.ask(statements.join('; '));
      for (const hear of hearing) hear();
    } catch {
      void client.close();
    }
  }
}

/** Channels to notify after the running notification. */
const queuedChannels = new WeakMap<Database, Set<string>>();

/**
 * Notifies channels of a commit without waiting. A transaction that notifies holds a lock of the whole server until it
 * is on disk, so only one of them is written at a time. For listeners that also poll.
 */
export function wakeListeners(database: Database, channels: readonly string[]): void {
  const queued = queuedChannels.get(database);
  if (queued) for (const channel of channels) queued.add(channel);
  else if (channels.length > 0) void notifyAll(database, new Set(channels));
}

async function notifyAll(database: Database, channels: Set<string>): Promise<void> {
  queuedChannels.set(database, channels);
  try {
    while (channels.size > 0) {
      const now = [...channels];
      channels.clear();
      await sql`SELECT pg_notify(channel, '') FROM unnest(${now}::text[]) AS channel`.execute(database);
    }
  } catch {
  } finally {
    queuedChannels.delete(database);
  }
}
