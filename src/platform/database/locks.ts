import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from '../telemetry/log.ts';
import { createWatchedClient, HEARTBEAT_LIMITS, type WatchedClient } from './client.ts';

const CHANNEL = 'locks_wanted';
const RETRY_MS = 100;
const PROBE_MS = 5_000;
/** A process whose machine has crashed loses its locks after about fifteen seconds. */
const KEEPALIVE = 'SET tcp_keepalives_idle = 5; SET tcp_keepalives_interval = 3; SET tcp_keepalives_count = 3';

export interface LockCallbacks {
  /** Another process wants the lock: release it soon. May be called several times. */
  onWanted(): void;
  /** The lock is lost: the connection to the database broke, and another process may take it. */
  onLost(): void;
}

export interface HeldLock {
  release(): Promise<void>;
}

/**
 * Locks by name among all processes of one database. They end with the connection of this process, so nothing waits for
 * a killed process. The holder of a lock is notified when another process wants it.
 */
export class Locks {
  readonly #databaseUrl: string;
  readonly #log: Logger;
  readonly #held = new Map<string, LockCallbacks & { taken: boolean; released: Promise<void> }>();
  #connection: Promise<WatchedClient> | undefined;
  #ending = false;
  #closed = false;

  constructor(databaseUrl: string, log: Logger) {
    this.#databaseUrl = databaseUrl;
    this.#log = log;
  }

  /** Takes a lock, and asks its holder to release it. @returns undefined when it was not released in time */
  async take(name: string, holder: LockCallbacks, waitMs: number): Promise<HeldLock | undefined> {
    const until = performance.now() + waitMs;
    for (;;) {
      const here = this.#held.get(name);
      if (!here) {
        const held = await this.#try(name, holder);
        if (held) return held;
      }
      const left = until - performance.now();
      if (left <= 0) return undefined;
      if (here?.taken) here.onWanted();
      const wait = pause(Math.min(left, RETRY_MS));
      await (here ? Promise.race([here.released, wait]) : wait);
    }
  }

  /** Asks all current and future holders to release their locks, because the process is shutting down. */
  wantAll(): void {
    this.#ending = true;
    for (const holder of this.#held.values()) if (holder.taken) holder.onWanted();
  }

  async close(): Promise<void> {
    this.#closed = true;
    const client = await this.#connection?.catch(() => undefined);
    await client?.close();
  }

  async #try(name: string, holder: LockCallbacks): Promise<HeldLock | undefined> {
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    const entry = { ...holder, taken: false, released };
    // One session may take a lock twice: within this process the map decides.
    this.#held.set(name, entry);
    const forget = () => {
      if (this.#held.get(name) === entry) this.#held.delete(name);
      release();
    };
    try {
      this.#connection ??= this.#open();
      const client = await this.#connection;
      const { rows } = await client.ask<{ taken: boolean }>(
        `SELECT pg_try_advisory_lock(hashtextextended($1, 0)) AS taken`,
        [name],
      );
      // The lock may have been lost during the request.
      if (rows[0]?.taken && this.#held.get(name) === entry) {
        entry.taken = true;
        if (this.#ending) holder.onWanted();
        const unlock = () => client.ask('SELECT pg_advisory_unlock(hashtextextended($1, 0))', [name]);
        // A lock whose connection has broken is gone.
        return { release: () => unlock().then(forget, forget) };
      }
      await client.ask('SELECT pg_notify($1, $2)', [CHANNEL, name]);
    } catch (error) {
      forget();
      throw error;
    }
    forget();
    return undefined;
  }

  async #open(): Promise<WatchedClient> {
    let own: number | undefined;
    const client = createWatchedClient(this.#databaseUrl, 'inlet locks', {
      limits: HEARTBEAT_LIMITS,
      probeMs: PROBE_MS,
      onNotification: ({ payload = '', processId }) => {
        const holder = this.#held.get(payload);
        // The notification of this process's own request may arrive after it has taken the lock.
        if (holder?.taken && processId !== own) holder.onWanted();
      },
      onLost: (error) => this.#lose(error),
    });
    await client.open(`${KEEPALIVE}; LISTEN ${CHANNEL}`);
    try {
      const { rows } = await client.ask<{ own: number }>('SELECT pg_backend_pid() AS own');
      own = rows[0]?.own;
    } catch (error) {
      await client.close();
      throw error;
    }
    return client;
  }

  #lose(error: Error): void {
    this.#connection = undefined;
    if (!this.#closed) this.#log.warn({ reason: error.message }, 'lost the connection that holds the locks');
    const holders = [...this.#held.values()];
    this.#held.clear();
    for (const holder of holders) holder.onLost();
  }
}
