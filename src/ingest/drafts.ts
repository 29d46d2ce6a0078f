import { randomUUID } from 'node:crypto';
import { type Selectable, sql } from 'kysely';
import type { Principal } from '#access/principal.ts';
import type { Database, Queryable, Transaction } from '#platform/database/kysely.ts';
import type { Draft as Row } from '#platform/database/schema.ts';
import { releaseOwned } from '#platform/storage/staging-entries.ts';
import { DRAFT_ACCEPTED, DRAFT_TAKEN, DraftGone } from './draft-refusals.ts';
import { discardUpload } from './tus/uploads.ts';

/**
 * Files and metadata that arrive over several requests, before they become an event or a part of one. A draft outlives
 * requests and processes. It is open until it is accepted, has failed, is closed or is discarded; the row is forgotten
 * when it expires.
 */
export interface Draft {
  id: string;
  /** The user name of the account it belongs to. */
  owner: string;
  createdAt: Date;
  /** When it closes: nothing is added to it and no event is made of it any more. */
  closesAt: Date;
  expiresAt: Date;
  /** The event that it has become; undefined before it is accepted. */
  accepted: AcceptedDraft | undefined;
  /** Why no event can be made of it, as a sentence. */
  failure: string | undefined;
  isClosed: boolean;
  /** From which the event is made without another request, if that was given when the draft was opened. */
  request: unknown;
}

/** The event that a draft has become, or a part of, and the workflow that was started then. */
export interface AcceptedDraft {
  eventId: string;
  workflowId: number | undefined;
}

/** A draft and who asks for it: only administrators reach drafts of other accounts, nobody those of other doors. */
export interface DraftOf {
  id: string;
  /** The door it comes in at. */
  door: string;
  /** Undefined when the caller has checked the account. */
  principal: Principal | undefined;
}

/** A draft that an account asks for. */
export type AskedDraft = DraftOf & { principal: Principal };

/** A draft that is to be opened. */
export interface NewDraft {
  /** A new one unless given. */
  id?: string;
  door: string;
  /** Its owner. */
  principal: Pick<Principal, 'username'>;
  /** How long it lives unless it is extended. */
  lifetimeMs: number;
  /** When it closes, if that is before it expires. */
  closesAt?: Date;
  /** From which the event is made without another request. */
  request?: object;
}

const CLOSES_AT = sql<Date>`coalesce(closes_at, expires_at)`;

/** Opens a draft. @throws {HttpError} 409 when another draft has the identifier */
export async function openDraft(
  db: Queryable,
  { id = randomUUID(), door, principal, lifetimeMs, closesAt, request }: NewDraft,
): Promise<Draft> {
  // One that has expired is gone for whoever asks, whether it has been removed or not.
  await db.deleteFrom('drafts').where('id', '=', id).where('expires_at', '<=', sql<Date>`now()`).execute();
  const row = await db
    .insertInto('drafts')
    .values({
      id,
      door,
      owner: principal.username,
      expires_at: after(lifetimeMs),
      closes_at: closesAt,
      request: request && JSON.stringify(request),
    })
    .onConflict((taken) => taken.doNothing())
    .returningAll()
    .executeTakeFirst();
  if (!row) throw DRAFT_TAKEN(id);
  return draftOf(row);
}

/**
 * Forgets a draft that has been accepted, so that its name is free for another one. Whoever asks again for what became of it
 * is not told any more.
 *
 * @param ofOthers whether it may be of another account
 */
export async function forgetAccepted(
  db: Queryable,
  { id, door, principal }: AskedDraft,
  { ofOthers }: { ofOthers: boolean },
): Promise<void> {
  const accepted = db
    .deleteFrom('drafts')
    .where('id', '=', id)
    .where('door', '=', door)
    .where('event_id', 'is not', null);
  await (ofOthers ? accepted : accepted.where('owner', '=', principal.username)).execute();
}

/** Gives a draft of this name up that is another account's; its objects are removed soon after the commit. */
export async function discardOthers(trx: Transaction, { id, door, principal }: AskedDraft): Promise<void> {
  const { numDeletedRows } = await trx
    .deleteFrom('drafts')
    .where('id', '=', id)
    .where('door', '=', door)
    .where('owner', '<>', principal.username)
    .executeTakeFirst();
  if (numDeletedRows > 0n) await releaseOwned(trx, ownerOf(id));
}

/**
 * Reads a draft that has not expired.
 *
 * @param options.lock other transactions cannot change it until this one ends
 */
export async function readDraft(
  db: Queryable,
  { id, door, principal }: DraftOf,
  { lock = false } = {},
): Promise<Draft | undefined> {
  let rows = db
    .selectFrom('drafts')
    .selectAll()
    .select(sql<boolean>`${CLOSES_AT} <= now()`.as('is_closed'))
    .where('id', '=', id)
    .where('door', '=', door)
    .where('expires_at', '>', sql<Date>`now()`);
  if (principal && !principal.isAdmin()) rows = rows.where('owner', '=', principal.username);
  const row = await (lock ? rows.forUpdate() : rows).executeTakeFirst();
  return row && draftOf(row);
}

/** Reads a draft. @throws {DraftGone} */
export async function findDraft(db: Queryable, which: DraftOf): Promise<Draft> {
  return (await readDraft(db, which)) ?? gone(which.id);
}

/** Reads a draft that no other transaction can change until this one ends. @throws {DraftGone} */
export async function lockDraft(trx: Transaction, which: DraftOf): Promise<Draft> {
  return (await readDraft(trx, which, { lock: true })) ?? gone(which.id);
}

/**
 * Discards a draft and its uploads; their objects are removed soon after the commit. One that has been accepted stays.
 *
 * @returns the draft as it was before
 * @throws {DraftGone}
 */
export async function discardDraft(trx: Transaction, which: DraftOf): Promise<Draft> {
  const draft = await lockDraft(trx, which);
  if (draft.accepted) return draft;
  const uploads = await trx
    .deleteFrom('draft_uploads')
    .where('draft_id', '=', which.id)
    .returning('upload_id')
    .execute();
  for (const { upload_id } of uploads) await discardUpload(trx, upload_id);
  await trx.deleteFrom('drafts').where('id', '=', which.id).execute();
  await releaseOwned(trx, ownerOf(which.id));
  return draft;
}

/** Records the outcome of a draft: its event, or why none can be made. A draft that is not open stays as it is. */
export async function settleDraft(
  db: Queryable,
  id: string,
  outcome: AcceptedDraft | { failure: string },
): Promise<void> {
  const { eventId = null, workflowId = null, failure = null } = outcome as Partial<AcceptedDraft & { failure: string }>;
  await db
    .updateTable('drafts')
    .set({ event_id: eventId, workflow_id: workflowId, failure })
    .where('id', '=', id)
    .where('event_id', 'is', null)
    .where('failure', 'is', null)
    .where(CLOSES_AT, '>', sql<Date>`now()`)
    .execute();
}

/**
 * Forgets drafts that have expired. Their objects expire with them, for the sweep of the staging ledger to remove.
 *
 * @returns how many of them nobody had completed
 */
export async function expireDrafts(database: Database): Promise<number> {
  const expired = await database
    .deleteFrom('drafts')
    .where('id', 'in', (from) =>
      from.selectFrom('drafts').select('id').where('expires_at', '<=', sql<Date>`now()`).forUpdate().skipLocked(),
    )
    .returning('event_id')
    .execute();
  return expired.filter(({ event_id }) => event_id === null).length;
}

/** Whether files and an event can still come of a draft. */
export function isOpen({ accepted, failure, isClosed }: Draft): boolean {
  return !accepted && failure === undefined && !isClosed;
}

/** @throws {HttpError} 409 when it has been accepted, else 404 */
export function requireOpen(draft: Draft): void {
  if (draft.accepted) throw DRAFT_ACCEPTED(draft.id);
  if (!isOpen(draft)) gone(draft.id);
}

function gone(id: string): never {
  throw new DraftGone(id);
}

/** What a draft is called on the staging ledger; no process is called so. */
export function ownerOf(draftId: string): string {
  return `draft ${draftId}`;
}

/** A draft as its row has it. */
export function draftOf({ is_closed = false, ...row }: Selectable<Row> & { is_closed?: boolean }): Draft {
  const { id, owner, created_at: createdAt, expires_at: expiresAt, event_id: eventId, request } = row;
  return {
    id,
    owner,
    createdAt,
    expiresAt,
    request,
    closesAt: row.closes_at ?? expiresAt,
    accepted: eventId === null ? undefined : { eventId, workflowId: row.workflow_id ?? undefined },
    failure: row.failure ?? undefined,
    isClosed: is_closed,
  };
}

/** That many milliseconds from now by the clock of the database. */
export function after(milliseconds: number) {
  return sql<Date>`now() + make_interval(secs => ${milliseconds / 1000})`;
}
