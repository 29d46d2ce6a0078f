import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from '../telemetry/log.ts';
import { VITAL } from './limits.ts';
import { WatchedClient } from './watched-client.ts';

const CHANNEL = 'locks_wanted';
/** How often somebody who waits for another process tries again. */
const RETRY_MS = 100;
const PROBE_MS = 5_000;
/** A process whose machine has gone without a word loses its locks after about fifteen seconds. */
const KEEPALIVE = 'SET tcp_keepalives_idle = 5; SET tcp_keepalives_interval = 3; SET tcp_keepalives_count = 3';

/** What somebody who holds a lock is to know. */
export interface Holder {
  /** Somebody else wants it: let go soon. May be told several times. */
  onWanted(): void;
  /** It is lost: the connection to the database has gone, and another process may have it. */
  onLost(): void;
}

/** A lock that is held. */
export interface Held {
  release(): Promise<void>;
}

/**
 * Locks by name among all processes of one database. They belong to a connection of this process and are gone with it,
 * so that nobody waits for a process that was killed. Whoever holds one is told when another wants it.
 */
export class Locks {
  readonly #databaseUrl: string;
  readonly #log: Logger;
  /** Those that are held, and those that are being asked for. */
  readonly #held = new Map<string, Holder & { taken: boolean; released: Promise<void> }>();
  #connection: Promise<WatchedClient> | undefined;
  #ending = false;
  #closed = false;

  constructor(databaseUrl: string, log: Logger) {
    this.#databaseUrl = databaseUrl;
    this.#log = log;
  }

  /**
   * Takes a lock; whoever has it is asked to let go.
   *
   * @param waitMs how long they may take
   * @returns undefined when they do not
   * @throws when the database is away
   */
  async take(name: string, holder: Holder, waitMs: number): Promise<Held | undefined> {
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

  /** Asks everybody here to let go, and whoever takes a lock from now on: the process is about to end. */
  wantAll(): void {
    this.#ending = true;
    for (const holder of this.#held.values()) if (holder.taken) holder.onWanted();
  }

  /** Lets go of everything. */
  async close(): Promise<void> {
    this.#closed = true;
    const client = await this.#connection?.catch(() => undefined);
    await client?.close();
  }

  async #try(name: string, holder: Holder): Promise<Held | undefined> {
    let released = () => {};
    const entry = {
      ...holder,
      taken: false,
      released: new Promise<void>((resolve) => {
        released = resolve;
      }),
    };
    // One session may take a lock twice: within this process the map decides.
    this.#held.set(name, entry);
    const forget = () => {
      if (this.#held.get(name) === entry) this.#held.delete(name);
      released();
    };
    try {
      const client = await this.#connect();
      const { rows } = await client.ask<{ taken: boolean }>(
        `SELECT pg_try_advisory_lock(hashtextextended($1, 0)) AS taken`,
        [name],
      );
      // Lost while it was asked for?
      if (rows[0]?.taken && this.#held.get(name) === entry) {
        entry.taken = true;
        if (this.#ending) holder.onWanted();
        return { release: () => this.#release(client, name).finally(forget) };
      }
      await client.ask('SELECT pg_notify($1, $2)', [CHANNEL, name]);
    } catch (error) {
      forget();
      throw error;
    }
    forget();
    return undefined;
  }

  async #release(client: WatchedClient, name: string): Promise<void> {
    // Gone with its connection.
    await client.ask('SELECT pg_advisory_unlock(hashtextextended($1, 0))', [name]).catch(() => undefined);
  }

  #connect(): Promise<WatchedClient> {
    this.#connection ??= this.#open();
    return this.#connection;
  }

  async #open(): Promise<WatchedClient> {
    let own: number | undefined;
    const client = new WatchedClient(this.#databaseUrl, 'inlet locks', {
      limits: VITAL,
      probeMs: PROBE_MS,
      onNotification: ({ payload = '', processId }) => {
        const holder = this.#held.get(payload);
        // What this process asked for itself comes back late, when it has it.
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
    if (!this.#closed) this.#log.warn({ reason: error.message }, 'the connection that holds the locks broke');
    const holders = [...this.#held.values()];
    this.#held.clear();
    for (const holder of holders) holder.onLost();
  }
}
