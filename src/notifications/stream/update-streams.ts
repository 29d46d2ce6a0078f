import type { Change } from '#changes/change.ts';
import { lastNumber, numberChanges } from '#changes/read.ts';
import { refusal } from '#platform/http/errors/refusal.ts';
import { messageOf, type StreamParts, type UpdateRequest, UpdateStream } from './update-stream.ts';

/** Proxies close idle connections after 30 to 60 seconds. */
const HEARTBEAT_MS = 15_000;
/** The time the rights of an account are trusted; then the client must reconnect. */
const LIFETIME_MS = 30 * 60_000;
/** More streams than a typical process can serve within a second. */
const MOST_STREAMS = 12_000;

export const TOO_MANY_STREAMS = refusal(503, 'Too many clients follow updates. Try again later.', [], {
  'Retry-After': '30',
});

/** All update streams of this process. */
export class UpdateStreams {
  readonly #parts: StreamParts;
  readonly #lifetimeMs: number;
  readonly #heartbeat: NodeJS.Timeout;
  readonly #streams = new Set<UpdateStream>();
  /** The streams of single events, by event identifier. */
  readonly #ofEvents = new Map<string, Set<UpdateStream>>();
  /** The streams of more than one event. */
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

  /** Starts following the log; must be awaited first. */
  async start(): Promise<void> {
    await this.#parts.feed.start();
    this.#unfollow ??= this.#parts.feed.follow((changes) => {
      for (const change of changes) this.#offer(change);
    });
  }

  /**
   * Returns the number after which a client receives changes.
   *
   * @param known the last number the client knows; undefined to start now. If the log was reset, a higher number means
   * its current end.
   */
  async begin(known: number | undefined): Promise<number> {
    const { feed, database } = this.#parts;
    if (known !== undefined && known <= feed.position) return known;
    await numberChanges(database);
    return Math.min(known ?? Number.POSITIVE_INFINITY, await lastNumber(database));
  }

  /** @throws {HttpError} 503 for too many streams */
  open(request: UpdateRequest): ReadableStream<Uint8Array> {
    if (this.#streams.size >= MOST_STREAMS) throw TOO_MANY_STREAMS();
    const stream = new UpdateStream(request, this.#parts, (ended) => this.#remove(ended));
    this.#streams.add(stream);
    this.#groupOf(stream).add(stream);
    stream.begin();
    return stream.body;
  }

  /** Ends all streams and the feed; clients reconnect. */
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
