import { randomUUID } from 'node:crypto';
import { type Selectable, sql } from 'kysely';
import type { Principal } from '#access/principal.ts';
import type { Database, Queryable, Transaction } from '#platform/database/kysely.ts';
import type { Draft as Row } from '#platform/database/schema.ts';
import type { StagingLedger } from '#platform/storage/staging.ts';
import { commitOwned, extendOwned, releaseOwned, StagingExpired } from '#platform/storage/staging-entries.ts';
import {
  contentsOf,
  type DraftContents,
  insertContents,
  keysOf,
  missingIn,
  removeContents,
} from './draft-contents.ts';
import { DRAFT_ACCEPTED, DRAFT_TAKEN, DraftGone } from './draft-refusals.ts';

/**
 * What comes in over several requests, before it becomes an event or a part of one: it outlives requests and processes,
 * until it is accepted, discarded, or expires.
 */
export interface Draft {
  id: string;
  /** The user name of the account it belongs to. */
  owner: string;
  createdAt: Date;
  expiresAt: Date;
  /** What has become of it; undefined before it is accepted. */
  accepted: AcceptedDraft | undefined;
}

/** The event that a draft has become, or a part of, and the workflow that was started then. */
export interface AcceptedDraft {
  eventId: string;
  workflowId: number | undefined;
}

/**
 * Which draft is meant, and by whom: nobody has anything to do with those of other doors, and only administrators with
 * those of other accounts.
 */
export interface DraftOf {
  id: string;
  /** The door it comes in at. */
  door: string;
  principal: Principal;
}

/**
 * Opens a draft.
 *
 * @param options.id what it is to be called; a new name unless given
 * @param options.lifetimeMs how long it lives unless it is extended, in milliseconds
 * @throws {HttpError} 409 for a name that another draft has
 */
export async function openDraft(
  db: Queryable,
  {
    id = randomUUID(),
    door,
    principal,
    lifetimeMs,
  }: Omit<DraftOf, 'id'> & { id?: string; lifetimeMs: number },
): Promise<Draft> {
  // One that has expired is gone for whoever asks, whether it has been removed or not.
  await db.deleteFrom('drafts').where('id', '=', id).where('expires_at', '<=', sql<Date>`now()`).execute();
  const row = await db
    .insertInto('drafts')
    .values({ id, door, owner: principal.username, expires_at: after(lifetimeMs) })
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
  { id, door, principal }: DraftOf,
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
export async function discardOthers(trx: Transaction, { id, door, principal }: DraftOf): Promise<void> {
  const { numDeletedRows } = await trx
    .deleteFrom('drafts')
    .where('id', '=', id)
    .where('door', '=', door)
    .where('owner', '<>', principal.username)
    .executeTakeFirst();
  if (numDeletedRows > 0n) await releaseOwned(trx, ownerOf(id));
}

/** A draft. @throws {DraftGone} */
export async function findDraft(db: Queryable, which: DraftOf): Promise<Draft> {
  const row = await rowsOf(db, which).executeTakeFirst();
  if (!row) throw new DraftGone(which.id);
  return draftOf(row);
}

/** A draft that nobody else can change until the transaction ends. @throws {DraftGone} */
export async function lockDraft(trx: Transaction, which: DraftOf): Promise<Draft> {
  const row = await rowsOf(trx, which).forUpdate().executeTakeFirst();
  if (!row) throw new DraftGone(which.id);
  return draftOf(row);
}

/**
 * Gives a draft more, whose objects this process has stored and staged; from then on they live as long as the draft. What
 * it has already is not added again: whoever has lost our answer sends the same once more.
 *
 * @returns the objects that it has no use for, to be discarded after the commit
 * @throws {DraftGone}
 * @throws {HttpError} 409 when it has been accepted
 * @throws {StagingExpired} when one of them has been swept; the transaction must roll back
 */
export async function addToDraft(
  trx: Transaction,
  which: DraftOf,
  contents: Partial<DraftContents>,
  staging: StagingLedger,
): Promise<string[]> {
  const draft = await lockDraft(trx, which);
  requireOpen(draft);
  const missing = missingIn(await contentsOf(trx, which.id), contents);
  await insertContents(trx, which.id, missing);
  await trx.updateTable('drafts').set({ changed_at: sql<Date>`now()` }).where('id', '=', which.id).execute();
  const kept = keysOf(missing);
  await staging.handToOwner(trx, kept, { owner: ownerOf(which.id), expiresAt: draft.expiresAt });
  return keysOf(contents).filter((key) => !kept.includes(key));
}

/** Lets a draft live on from now. @param lifetimeMs in milliseconds @throws {DraftGone} */
export async function extendDraft(trx: Transaction, which: DraftOf, lifetimeMs: number): Promise<Draft> {
  requireOpen(await lockDraft(trx, which));
  const row = await trx
    .updateTable('drafts')
    .set({ expires_at: after(lifetimeMs) })
    .where('id', '=', which.id)
    .returningAll()
    .executeTakeFirstOrThrow();
  const keys = keysOf(await contentsOf(trx, which.id));
  await orGone(which.id, extendOwned(trx, ownerOf(which.id), keys, row.expires_at));
  return draftOf(row);
}

/**
 * Gives a draft up; its objects are removed soon after the commit. What has been accepted stays as it is.
 *
 * @throws {DraftGone}
 */
export async function discardDraft(trx: Transaction, which: DraftOf): Promise<void> {
  if ((await lockDraft(trx, which)).accepted) return;
  await trx.deleteFrom('drafts').where('id', '=', which.id).execute();
  await releaseOwned(trx, ownerOf(which.id));
}

/**
 * Takes what a draft holds for an event that the same transaction makes or changes: its objects leave the staging
 * ledger, whichever process has stored them. `settleDraft` says afterwards what has become of it.
 *
 * @throws {DraftGone} the transaction must roll back
 * @throws {HttpError} 409 when it has been accepted before
 */
export async function takeDraft(trx: Transaction, which: DraftOf): Promise<DraftContents> {
  requireOpen(await lockDraft(trx, which));
  const contents = await contentsOf(trx, which.id);
  await orGone(which.id, commitOwned(trx, ownerOf(which.id), keysOf(contents)));
  await removeContents(trx, which.id);
  return contents;
}

/**
 * Gives up what a draft holds, because an event has it already; its objects are removed soon after the commit.
 *
 * @throws {DraftGone}
 * @throws {HttpError} 409 when it has been accepted before
 */
export async function dropDraft(trx: Transaction, which: DraftOf, accepted: AcceptedDraft): Promise<void> {
  requireOpen(await lockDraft(trx, which));
  await releaseOwned(trx, ownerOf(which.id));
  await removeContents(trx, which.id);
  await settleDraft(trx, which.id, accepted);
}

/** Writes down what has become of a draft that was taken, for whoever asks again. */
export async function settleDraft(
  trx: Transaction,
  id: string,
  { eventId, workflowId }: AcceptedDraft,
): Promise<void> {
  await trx
    .updateTable('drafts')
    .set({ event_id: eventId, workflow_id: workflowId ?? null })
    .where('id', '=', id)
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
      from
        .selectFrom('drafts')
        .select('id')
        .where('expires_at', '<=', sql<Date>`now()`)
        .forUpdate()
        .skipLocked(),
    )
    .returning('event_id')
    .execute();
  return expired.filter(({ event_id }) => event_id === null).length;
}

function requireOpen({ id, accepted }: Draft): void {
  if (accepted) throw DRAFT_ACCEPTED(id);
}

function rowsOf(db: Queryable, { id, door, principal }: DraftOf) {
  const drafts = db
    .selectFrom('drafts')
    .selectAll()
    .where('id', '=', id)
    .where('door', '=', door)
    .where('expires_at', '>', sql<Date>`now()`);
  return principal.isAdmin() ? drafts : drafts.where('owner', '=', principal.username);
}

async function orGone(id: string, work: Promise<void>): Promise<void> {
  try {
    await work;
  } catch (error) {
    throw error instanceof StagingExpired ? new DraftGone(id) : error;
  }
}

/** What a draft is called on the staging ledger; no process is called so. */
function ownerOf(draftId: string): string {
  return `draft ${draftId}`;
}

function draftOf({ id, owner, created_at, expires_at, event_id, workflow_id }: Selectable<Row>): Draft {
  const accepted =
    event_id === null ? undefined : { eventId: event_id, workflowId: workflow_id ?? undefined };
  return { id, owner, createdAt: created_at, expiresAt: expires_at, accepted };
}

function after(milliseconds: number) {
  return sql<Date>`now() + make_interval(secs => ${milliseconds / 1000})`;
}
