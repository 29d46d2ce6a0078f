import { randomUUID } from 'node:crypto';
import { type Selectable, sql } from 'kysely';
import type { Principal } from '../access/principal.ts';
import type { Database, Queryable, Transaction } from '../database/kysely.ts';
import type { Draft as Row } from '../database/schema.ts';
import type { NewTrack } from '../events/tracks.ts';
import { conflict, HttpError } from '../http/errors.ts';
import type { StagingLedger } from '../storage/staging.ts';
import { commitOwned, extendOwned, releaseOwned, StagingExpired } from '../storage/staging-entries.ts';

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

/** There is no such draft (any more) for whoever asks: it was accepted or discarded, has expired, or is another's. */
export class DraftGone extends HttpError {
  constructor(id: string) {
    super(
      404,
      `There is no draft '${id}': it has been accepted, discarded, or has expired, or there never was one.`,
    );
  }
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
  if (!row) throw conflict(`A draft with the identifier '${id}' exists already.`);
  return draftOf(row);
}

/** A draft. @throws {DraftGone} */
export async function findDraft(db: Queryable, which: DraftOf): Promise<Draft> {
  const row = await rowsOf(db, which).executeTakeFirst();
  if (!row) throw new DraftGone(which.id);
  return draftOf(row);
}

/** The tracks of a draft, in the order in which they came. @throws {DraftGone} */
export async function tracksOfDraft(db: Queryable, which: DraftOf): Promise<NewTrack[]> {
  await findDraft(db, which);
  return storedTracks(db, which.id);
}

/**
 * Gives a draft more tracks, whose objects this process has stored and staged; from then on they live as long as the
 * draft.
 *
 * @throws {DraftGone}
 * @throws {StagingExpired} when one of them has been swept; the transaction must roll back
 */
export async function addToDraft(
  trx: Transaction,
  which: DraftOf,
  tracks: readonly NewTrack[],
  staging: StagingLedger,
): Promise<void> {
  const { expiresAt } = await lockDraft(trx, which);
  if (tracks.length === 0) return;
  const { next } = await trx
    .selectFrom('draft_tracks')
    .select(sql<number>`coalesce(max(position) + 1, 0)`.as('next'))
    .where('draft_id', '=', which.id)
    .executeTakeFirstOrThrow();
  await trx
    .insertInto('draft_tracks')
    .values(
      tracks.map(({ objectKey, tags = [], ...track }, i) => ({
        ...track,
        tags: [...tags],
        object_key: objectKey,
        draft_id: which.id,
        position: next + i,
      })),
    )
    .execute();
  await staging.handToOwner(trx, keysOf(tracks), { owner: ownerOf(which.id), expiresAt });
}

/** Lets a draft live on from now. @param lifetimeMs in milliseconds @throws {DraftGone} */
export async function extendDraft(trx: Transaction, which: DraftOf, lifetimeMs: number): Promise<Draft> {
  await lockDraft(trx, which);
  const row = await trx
    .updateTable('drafts')
    .set({ expires_at: after(lifetimeMs) })
    .where('id', '=', which.id)
    .returningAll()
    .executeTakeFirstOrThrow();
  const keys = keysOf(await storedTracks(trx, which.id));
  await orGone(which.id, extendOwned(trx, ownerOf(which.id), keys, row.expires_at));
  return draftOf(row);
}

/** Gives a draft up; its objects are removed soon after the commit. @throws {DraftGone} */
export async function discardDraft(trx: Transaction, which: DraftOf): Promise<void> {
  await lockDraft(trx, which);
  await trx.deleteFrom('drafts').where('id', '=', which.id).execute();
  await releaseOwned(trx, ownerOf(which.id));
}

/**
 * Ends a draft whose tracks the same transaction gives to an event: their objects leave the staging ledger, whichever
 * process has stored them. Of two that take one draft, the second finds it gone.
 *
 * @returns its tracks, in the order in which they came
 * @throws {DraftGone} the transaction must roll back
 */
export async function takeDraft(trx: Transaction, which: DraftOf): Promise<NewTrack[]> {
  await lockDraft(trx, which);
  const tracks = await storedTracks(trx, which.id);
  await orGone(which.id, commitOwned(trx, ownerOf(which.id), keysOf(tracks)));
  await trx.deleteFrom('drafts').where('id', '=', which.id).execute();
  return tracks;
}

/**
 * Forgets drafts that have expired. Their objects expire with them, for the sweep of the staging ledger to remove.
 *
 * @returns how many there were
 */
export async function expireDrafts(database: Database): Promise<number> {
  const { numDeletedRows } = await database
    .deleteFrom('drafts')
    .where('id', 'in', (from) =>
      from
        .selectFrom('drafts')
        .select('id')
        .where('expires_at', '<=', sql<Date>`now()`)
        .forUpdate()
        .skipLocked(),
    )
    .executeTakeFirstOrThrow();
  return Number(numDeletedRows);
}

async function lockDraft(trx: Transaction, which: DraftOf): Promise<Draft> {
  const row = await rowsOf(trx, which).forUpdate().executeTakeFirst();
  if (!row) throw new DraftGone(which.id);
  return draftOf(row);
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

async function storedTracks(db: Queryable, draftId: string): Promise<NewTrack[]> {
  return db
    .selectFrom('draft_tracks')
    .select(['id', 'flavor', 'tags', 'filename', 'mediatype', 'object_key as objectKey', 'size', 'sha256'])
    .where('draft_id', '=', draftId)
    .orderBy('position')
    .execute();
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

function keysOf(tracks: readonly NewTrack[]): string[] {
  return tracks.map(({ objectKey }) => objectKey);
}

function draftOf({ id, owner, created_at, expires_at }: Selectable<Row>): Draft {
  return { id, owner, createdAt: created_at, expiresAt: expires_at };
}

function after(milliseconds: number) {
  return sql<Date>`now() + make_interval(secs => ${milliseconds / 1000})`;
}
