import type { Database } from '../database/kysely.ts';
import { type Listener, listen } from '../database/listen.ts';
import type { Logger } from '../telemetry.ts';
import type { Change } from './change.ts';
import { lastNumber, numberChanges, READ_AT_ONCE, readChanges } from './read.ts';
import { CHANGES_CHANNEL } from './record.ts';

/** Notifications are a hint; this is how long a change waits when one was missed. */
const POLL_MS = 5_000;
/** What has been read lately is kept for those who come back after a moment. */
const KEPT = 2_000;

/** Is told of changes as they come, in order. */
export type Follower = (changes: readonly Change[]) => void;

/**
 * Follows the log for all in this process who want to hear of it: each change is read once, however many they are. Begins
 * with the first of them.
 */
export class ChangeFeed {
  readonly #options: { database: Database; databaseUrl: string; log: Logger };
  readonly #followers = new Set<Follower>();
  #recent: Change[] = [];
  #position = 0;
  #started: Promise<void> | undefined;
  #listener: Listener | undefined;
  #timer: NodeJS.Timeout | undefined;
  #reading = false;
  #again = false;
  #closed = false;

  constructor(options: { database: Database; databaseUrl: string; log: Logger }) {
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
    clearInterval(this.#timer);
    this.#followers.clear();
    await this.#listener?.close();
  }

  async #begin(): Promise<void> {
    const { database, databaseUrl, log } = this.#options;
    await numberChanges(database);
    this.#position = await lastNumber(database);
    if (this.#closed) return;
    this.#listener = listen(databaseUrl, CHANGES_CHANNEL, log, () => void this.#read());
    this.#timer = setInterval(() => void this.#read(), POLL_MS);
    this.#timer.unref();
  }

  async #read(): Promise<void> {
    this.#again = true;
    if (this.#reading) return;
    this.#reading = true;
    try {
      while (this.#again && !this.#closed) {
        this.#again = false;
        await this.#readOn();
      }
    } catch (error) {
      this.#options.log.warn({ err: error }, 'the log of changes could not be read; trying again');
    } finally {
      this.#reading = false;
    }
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
