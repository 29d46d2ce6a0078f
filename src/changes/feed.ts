import type { Database } from '#platform/database/kysely.ts';
import type { Listener, Notifications } from '#platform/database/notifications.ts';
import { type Loop, periodically } from '#platform/process/periodically.ts';
import type { Logger } from '#platform/telemetry/log.ts';
import type { Pulse } from '#platform/telemetry/pulse.ts';
import type { Change } from './change.ts';
import { lastNumber, numberChanges, READ_AT_ONCE, readChanges } from './read.ts';
import { CHANGES_CHANNEL } from './record.ts';

/** Notifications are a hint; this is how long a change waits when one was missed. */
const POLL_MS = 5_000;
/** Where there are many changes they are read many at a time. */
const REST_MS = 100;
/** What has been read lately is kept for those who come back after a moment. */
const KEPT = 2_000;

interface FeedOptions {
  database: Database;
  notifications: Notifications;
  pulse: Pulse;
  log: Logger;
}

/** Is told of changes as they come, in order. */
export type Follower = (changes: readonly Change[]) => void;

/**
 * Follows the log for all in this process who want to hear of it: each change is read once, however many they are. Begins
 * with the first of them.
 */
export class ChangeFeed {
  readonly #options: FeedOptions;
  readonly #followers = new Set<Follower>();
  #recent: Change[] = [];
  #position = 0;
  #started: Promise<void> | undefined;
  #listener: Listener | undefined;
  #loop: Loop | undefined;
  #closed = false;

  constructor(options: FeedOptions) {
    this.#options = options;
  }

  /** The number of the last change that followers were told of. */
  get position(): number {
    return this.#position;
  }

  /** Waits until it follows the log; whatever is committed from then on comes to followers. */
  async start(): Promise<void> {
    this.#started ??= this.#begin().catch((error) => {
      this.#started = undefined;
      throw error;
    });
    await this.#started;
  }

  /** @returns ends it */
  follow(follower: Follower): () => void {
    this.#followers.add(follower);
    return () => this.#followers.delete(follower);
  }

  /** The changes after a number up to the present position, if they are kept here. */
  recentAfter(number: number): readonly Change[] | undefined {
    const oldest = this.#recent[0]?.number ?? this.#position + 1;
    if (number < oldest - 1) return undefined;
    return this.#recent.filter((change) => change.number > number);
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#followers.clear();
    this.#listener?.close();
    await this.#loop?.close();
  }

  async #begin(): Promise<void> {
    const { database, notifications, pulse, log } = this.#options;
    await numberChanges(database);
    this.#position = await lastNumber(database);
    if (this.#closed) return;
    const pace = { pauseMs: POLL_MS, restMs: REST_MS };
    this.#loop = periodically('reading of changes', pace, log, () => this.#readOn());
    pulse.watch(this.#loop);
    this.#listener = notifications.listen(CHANGES_CHANNEL, this.#loop.wake);
  }

  async #readOn(): Promise<void> {
    const { database } = this.#options;
    await numberChanges(database);
    for (;;) {
      const changes = await readChanges(database, this.#position);
      const last = changes.at(-1);
      if (!last || this.#closed) return;
      this.#position = last.number;
      this.#recent = [...this.#recent, ...changes].slice(-KEPT);
      for (const follower of this.#followers) follower(changes);
      if (changes.length < READ_AT_ONCE) return;
    }
  }
}
