import type { Database } from '#platform/database/kysely.ts';
import type { Notifications, Subscription } from '#platform/database/notifications.ts';
import { type Loop, startLoop } from '#platform/process/loop.ts';
import type { Logger } from '#platform/telemetry/log.ts';
import type { LoopMonitor } from '#platform/telemetry/pulse.ts';
import type { Change } from './change.ts';
import { lastNumber, numberChanges, READ_AT_ONCE, readChanges } from './read-changes.ts';
import { CHANGES_CHANNEL } from './record-changes.ts';

/** Notifications may be lost; this limits the delay of a change then. */
const POLL_MS = 5_000;
/** The pause between two reads, so that frequent changes are read in batches. */
const REST_MS = 100;
/** The number of changes kept for clients that reconnect. */
const KEPT = 2_000;

interface FeedOptions {
  database: Database;
  notifications: Notifications;
  pulse: LoopMonitor;
  log: Logger;
}

export type Follower = (changes: readonly Change[]) => void;

/** Follows the log for all followers in this process and reads each change once. Starts with the first follower. */
export class ChangeFeed {
  readonly #options: FeedOptions;
  readonly #followers = new Set<Follower>();
  #recent: Change[] = [];
  #position = 0;
  #started: Promise<void> | undefined;
  #listener: Subscription | undefined;
  #loop: Loop | undefined;
  #closed = false;

  constructor(options: FeedOptions) {
    this.#options = options;
  }

  /** The number of the last change that followers received. */
  get position(): number {
    return this.#position;
  }

  /** Waits until the feed follows the log; followers receive all later commits. */
  async start(): Promise<void> {
    this.#started ??= this.#begin().catch((error) => {
      this.#started = undefined;
      throw error;
    });
    await this.#started;
  }

  /** @returns a function that unsubscribes */
  follow(follower: Follower): () => void {
    this.#followers.add(follower);
    return () => this.#followers.delete(follower);
  }

  /** Returns the changes after a number up to the current position, if the feed still has them. */
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
    this.#loop = startLoop('reading of changes', pace, log, () => this.#readOn());
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
