import type { Change } from '#changes/change.ts';
import { lastNumber, numberChanges } from '#changes/read.ts';
import { refusal } from '#platform/http/errors/refusal.ts';
import { messageOf, type StreamParts, type UpdateRequest, UpdateStream } from './update-stream.ts';

/** Proxies take a connection for dead after half a minute or a minute. */
const HEARTBEAT_MS = 15_000;
/** So long the rights of an account are taken for what they were; then its client comes back and is asked again. */
const LIFETIME_MS = 30 * 60_000;
/** More than a process of the usual size can tell in a second. */
const MOST_STREAMS = 12_000;

export const TOO_MANY_STREAMS = refusal(503, 'Too many follow the updates already; try again later.', [], {
  'Retry-After': '30',
});

/** All in this process who follow changes as they come. */
export class UpdateStreams {
  readonly #parts: StreamParts;
  readonly #lifetimeMs: number;
  readonly #heartbeat: NodeJS.Timeout;
  readonly #streams = new Set<UpdateStream>();
  /** Those who follow one event each, by its identifier. */
  readonly #ofEvents = new Map<string, Set<UpdateStream>>();
  /** Those who follow more than one. */
  readonly #ofAll = new Set<UpdateStream>();
  #unfollow: (() => void) | undefined;

  constructor(parts: StreamParts, { lifetimeMs = LIFETIME_MS, heartbeatMs = HEARTBEAT_MS } = {}) {
    this.#parts = parts;
    this.#lifetimeMs = lifetimeMs;
    this.#heartbeat = setInterval(() => this.#beat(), Math.min(heartbeatMs, lifetimeMs));
    this.#heartbeat.unref();
  }

  get count(): number {
    return this.#streams.size;
  }

  /** Follows the log; to be awaited before anything else. */
  async start(): Promise<void> {
    await this.#parts.feed.start();
    this.#unfollow ??= this.#parts.feed.follow((changes) => {
      for (const change of changes) this.#offer(change);
    });
  }

  /**
   * The number after which a client is to be told of changes.
   *
   * @param known the last one that it knows of; only what is still to come when undefined. Of a log that has been set back
   * there is nothing to wait for at a number that it has not reached.
   */
  async begin(known: number | undefined): Promise<number> {
    const { feed, database } = this.#parts;
    if (known !== undefined && known <= feed.position) return known;
    await numberChanges(database);
    return Math.min(known ?? Number.POSITIVE_INFINITY, await lastNumber(database));
  }

  /** @throws {HttpError} 503 when there are too many */
  open(request: UpdateRequest): ReadableStream<Uint8Array> {
    if (this.#streams.size >= MOST_STREAMS) throw TOO_MANY_STREAMS();
    const stream = new UpdateStream(request, this.#parts, (ended) => this.#remove(ended));
    this.#streams.add(stream);
    this.#groupOf(stream).add(stream);
    stream.begin();
    return stream.body;
  }

  /** Ends all of them, and the feed; their clients come back, here or elsewhere. */
  async close(): Promise<void> {
    clearInterval(this.#heartbeat);
    this.#unfollow?.();
    for (const stream of this.#streams) stream.end();
    await this.#parts.feed.close();
  }

  #offer(change: Change): void {
    let bytes: Uint8Array | undefined;
    const message = () => {
      bytes ??= messageOf(change);
      return bytes;
    };
    const followers = change.eventId === null ? undefined : this.#ofEvents.get(change.eventId);
    for (const stream of followers ?? []) stream.offer(change, message);
    for (const stream of this.#ofAll) stream.offer(change, message);
  }

  #beat(): void {
    const oldest = performance.now() - this.#lifetimeMs;
    for (const stream of this.#streams) {
      if (stream.openedAt <= oldest) stream.end();
      else stream.beat();
    }
  }

  #groupOf({ eventId }: UpdateStream): Set<UpdateStream> {
    if (eventId === undefined) return this.#ofAll;
    const group = this.#ofEvents.get(eventId) ?? new Set();
    this.#ofEvents.set(eventId, group);
    return group;
  }

  #remove(stream: UpdateStream): void {
    this.#streams.delete(stream);
    const group = this.#groupOf(stream);
    group.delete(stream);
    if (stream.eventId !== undefined && group.size === 0) this.#ofEvents.delete(stream.eventId);
  }
}
