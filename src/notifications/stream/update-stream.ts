import type { Principal } from '#access/principal.ts';
import { apiRole } from '#access/roles/api-roles.ts';
import { type Change, changeJson } from '#changes/change.ts';
import type { ChangeFeed } from '#changes/feed.ts';
import type { ChangeFilter } from '#changes/filter.ts';
import { READ_AT_ONCE, readChanges, readChangesOf } from '#changes/read.ts';
import type { Database } from '#platform/database/kysely.ts';
import { STREAM_HEARTBEAT, streamMessage, streamStart } from '#platform/http/answer/event-stream.ts';

/** How soon a client comes back after a stream has ended. */
const RETRY_MS = 2_000;
/** A client that takes nothing for so long that this is waiting has to come back for the rest. */
const MOST_WAITING_BYTES = 256 * 1024;
/** Who may hear of what was read is not taken for true for longer than this. */
const FRESH_MS = 5_000;
const [SEES_AGENTS = ''] = apiRole('CAPTURE_AGENTS_VIEW');

/** What somebody wants to hear of. */
export interface UpdateRequest {
  principal: Principal;
  wants: ChangeFilter;
  /** The only event that it is about. */
  eventId?: string | undefined;
  /** The last change that is known. */
  after: number;
  /** How things are, told first; its number is that of `after`. */
  first?: { kind: string; data: unknown } | undefined;
}

/** What streams are made with. */
export interface StreamParts {
  feed: ChangeFeed;
  database: Database;
}

/**
 * One client that is told of changes: first of what it has missed, then of what comes. Whether it may hear of a change is
 * decided by the access control list of the moment in which it is told.
 */
export class UpdateStream {
  readonly openedAt = performance.now();
  readonly eventId: string | undefined;
  readonly body: ReadableStream<Uint8Array>;
  readonly #request: UpdateRequest;
  readonly #parts: StreamParts;
  readonly #onEnd: (stream: UpdateStream) => void;
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  #position: number;
  /** Whether it has been told of everything up to the position of the feed. */
  #live = false;
  #wanted: () => void = () => undefined;

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
        pull: () => this.#wanted(),
        cancel: () => this.#forget(),
      },
      { highWaterMark: 16 * 1024, size },
    );
  }

  /** Tells it of what it has missed, and from then on of what comes; to be called once `onEnd` can find it. */
  begin(): void {
    void this.#catchUp().catch(() => this.end());
  }

  /** Tells it of a change that has just come. @param message as it is for everybody */
  offer(change: Change, message: () => Uint8Array): void {
    if (this.#live) this.#tell(change, message);
  }

  beat(): void {
    this.#send(STREAM_HEARTBEAT);
  }

  /** The client comes back by itself, and is told of what it misses. */
  end(): void {
    const controller = this.#controller;
    this.#forget();
    try {
      controller?.close();
    } catch {
      // It has been cancelled.
    }
  }

  #tell(change: Change, message: () => Uint8Array): void {
    if (change.number <= this.#position) return;
    this.#position = change.number;
    const { principal, wants, eventId } = this.#request;
    if (eventId !== undefined && change.eventId !== eventId) return;
    if (!mayHear(principal, change) || !wants(change)) return;
    this.#send(message());
    if (eventId !== undefined && change.kind === 'event.deleted') {
      void this.#endIfGone(eventId).catch(() => this.end());
    }
  }

  /** It may have been an earlier event with the identifier that was deleted. */
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
      // What the feed keeps was readable by whom it was when it came.
      const kept = principal.isAdmin() ? feed.recentAfter(this.#position) : undefined;
      const changes = kept ?? (await this.#read());
      if (!(await this.#tellOf(changes, upTo))) continue;
      if (changes.length < READ_AT_ONCE || (changes.at(-1)?.number ?? 0) >= upTo) {
        this.#position = Math.max(this.#position, upTo);
      }
    }
  }

  /** Tells of what was just read, as the client takes it. @returns false when it has to be read anew before it is told */
  async #tellOf(changes: readonly Change[], upTo: number): Promise<boolean> {
    const readAt = performance.now();
    for (const change of changes) {
      if (!this.#controller || performance.now() - readAt > FRESH_MS) return false;
      if (change.number <= upTo) this.#tell(change, () => messageOf(change));
      await this.#taken();
    }
    return true;
  }

  #read(): Promise<readonly Change[]> {
    const { database } = this.#parts;
    const { eventId } = this.#request;
    return eventId === undefined
      ? readChanges(database, this.#position)
      : readChangesOf(database, eventId, this.#position);
  }

  /** Waits until the client has taken what was sent. */
  async #taken(): Promise<void> {
    if ((this.#controller?.desiredSize ?? 1) > 0) return;
    await new Promise<void>((resolve) => {
      this.#wanted = resolve;
    });
  }

  #forget(): void {
    if (!this.#controller) return;
    this.#controller = undefined;
    this.#wanted();
    this.#onEnd(this);
  }
}

/** The message of a change, the same for all who hear of it. */
export function messageOf(change: Change): Uint8Array {
  return streamMessage(change.number, change.kind, changeJson(change));
}

function mayHear(principal: Principal, { readRoles }: Change): boolean {
  if (principal.isAdmin()) return true;
  if (readRoles === null) return principal.hasRole(SEES_AGENTS);
  return readRoles.some((role) => principal.hasRole(role));
}
