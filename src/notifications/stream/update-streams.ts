import type { Principal } from '#access/principal.ts';
import { apiRole } from '#access/roles/api-roles.ts';
import { type Change, type ChangeFilter, changeJson } from '#changes/change.ts';
import type { ChangeFeed } from '#changes/change-feed.ts';
import { lastNumber, numberChanges, READ_AT_ONCE, readChanges, readChangesOfEvent } from '#changes/read-changes.ts';
import type { Database } from '#platform/database/kysely.ts';
import { STREAM_HEARTBEAT, streamMessage, streamStart } from '#platform/http/answer/event-stream.ts';
import { refusal } from '#platform/http/errors/errors.ts';

const RETRY_MS = 2_000;
/** A client with more unread bytes is disconnected and must reconnect. */
const MOST_WAITING_BYTES = 256 * 1024;
/** Access read from the database is trusted for this time. */
const FRESH_MS = 5_000;
const [SEES_AGENTS = ''] = apiRole('CAPTURE_AGENTS_VIEW');

export interface UpdateRequest {
  principal: Principal;
  wants: ChangeFilter;
  eventId?: string | undefined;
  after: number;
  /** The first message, with the current state; its number is `after`. */
  first?: { kind: string; data: unknown } | undefined;
}

interface StreamParts {
  feed: ChangeFeed;
  database: Database;
}

/** Streams changes to one client: missed ones, then new ones, by the ACL at the time of sending. */
class UpdateStream {
  readonly openedAt = performance.now();
  readonly eventId: string | undefined;
  readonly body: ReadableStream<Uint8Array>;
  readonly #request: UpdateRequest;
  readonly #parts: StreamParts;
  readonly #onEnd: (stream: UpdateStream) => void;
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  #position: number;
  /** True after all changes up to the position of the feed were sent. */
  #live = false;
  #resume: () => void = () => undefined;

  constructor(request: UpdateRequest, parts: StreamParts, onEnd: (stream: UpdateStream) => void) {
    this.#request = request;
    this.#parts = parts;
    this.#onEnd = onEnd;
    this.eventId = request.eventId;
    this.#position = request.after;
    const size = (chunk: Uint8Array | undefined) => chunk?.byteLength ?? 0;
    this.body = new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          this.#controller = controller;
          controller.enqueue(streamStart(RETRY_MS));
          const { first, after } = request;
          if (first) controller.enqueue(streamMessage(after, first.kind, first.data));
        },
        pull: () => this.#resume(),
        cancel: () => this.#forget(),
      },
      { highWaterMark: 16 * 1024, size },
    );
  }

  /** Sends missed changes, then new ones; to be called after `onEnd` can find the stream. */
  begin(): void {
    void this.#catchUp().catch(() => this.end());
  }

  /** Sends a new change. @param message the encoded change, shared by all streams */
  offer(change: Change, message: () => Uint8Array): void {
    if (this.#live) this.#deliver(change, message);
  }

  beat(): void {
    this.#send(STREAM_HEARTBEAT);
  }

  /** Ends the stream; the client reconnects and receives what it missed. */
  end(): void {
    const controller = this.#controller;
    this.#forget();
    try {
      controller?.close();
    } catch {
      // The client has canceled the stream.
    }
  }

  #deliver(change: Change, message: () => Uint8Array): void {
    if (change.number <= this.#position) return;
    this.#position = change.number;
    const { principal, wants, eventId } = this.#request;
    if (eventId !== undefined && change.eventId !== eventId) return;
    if (!mayReceive(principal, change) || !wants(change)) return;
    this.#send(message());
    if (eventId !== undefined && change.kind === 'event.deleted') {
      void this.#endIfGone(eventId).catch(() => this.end());
    }
  }

  /** The deleted event may be a predecessor with the same identifier. */
  async #endIfGone(eventId: string): Promise<void> {
    const { database } = this.#parts;
    const there = await database.selectFrom('events').select('id').where('id', '=', eventId).executeTakeFirst();
    if (!there) this.end();
  }

  #send(bytes: Uint8Array): void {
    const controller = this.#controller;
    if (!controller) return;
    controller.enqueue(bytes);
    if ((controller.desiredSize ?? 0) < -MOST_WAITING_BYTES) this.end();
  }

  async #catchUp(): Promise<void> {
    const { feed } = this.#parts;
    const { principal } = this.#request;
    while (this.#controller) {
      const upTo = feed.position;
      if (this.#position >= upTo) {
        this.#live = true;
        return;
      }
      // The feed's copies have the access roles of an earlier time.
      const kept = principal.isAdmin() ? feed.recentAfter(this.#position) : undefined;
      const changes = kept ?? (await this.#read());
      if (!(await this.#deliverAll(changes, upTo))) continue;
      if (changes.length < READ_AT_ONCE || (changes.at(-1)?.number ?? 0) >= upTo) {
        this.#position = Math.max(this.#position, upTo);
      }
    }
  }

  /** Sends changes as the client reads them. @returns false if the access data is too old and must be read again */
  async #deliverAll(changes: readonly Change[], upTo: number): Promise<boolean> {
    const readAt = performance.now();
    for (const change of changes) {
      if (!this.#controller || performance.now() - readAt > FRESH_MS) return false;
      if (change.number <= upTo) this.#deliver(change, () => messageOf(change));
      await this.#drained();
    }
    return true;
  }

  #read(): Promise<readonly Change[]> {
    const { database } = this.#parts;
    const { eventId } = this.#request;
    return eventId === undefined
      ? readChanges(database, this.#position)
      : readChangesOfEvent(database, eventId, this.#position);
  }

  /** Waits until the client has read what was sent. */
  async #drained(): Promise<void> {
    if ((this.#controller?.desiredSize ?? 1) > 0) return;
    await new Promise<void>((resolve) => {
      this.#resume = resolve;
    });
  }

  #forget(): void {
    if (!this.#controller) return;
    this.#controller = undefined;
    this.#resume();
    this.#onEnd(this);
  }
}

function messageOf(change: Change): Uint8Array {
  return streamMessage(change.number, change.kind, changeJson(change));
}

function mayReceive(principal: Principal, { readRoles }: Change): boolean {
  if (principal.isAdmin()) return true;
  if (readRoles === null) return principal.hasRole(SEES_AGENTS);
  return readRoles.some((role) => principal.hasRole(role));
}

/** Proxies close idle connections after 30 to 60 seconds. */
const HEARTBEAT_MS = 15_000;
/** The time the rights of an account are trusted; then the client must reconnect. */
const LIFETIME_MS = 30 * 60_000;
/** More streams than a typical process can serve within a second. */
const MOST_STREAMS = 12_000;

export const TOO_MANY_STREAMS = refusal(503, 'Too many clients follow updates. Try again later.', [], {
  'Retry-After': '30',
});

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

  /** Returns the number after which a client receives changes; at most the end of the log, which may be reset. */
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
