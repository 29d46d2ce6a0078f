import { sql } from 'kysely';
import type { NewAttachment, NewDocument, NewTrack } from '#catalogue/events/event-files.ts';
import type { Queryable, Transaction } from '#platform/database/kysely.ts';
import type { StagingLedger } from '#platform/storage/staging.ts';
import { commitOwned, releaseOwned, StagingExpired, updateOwned } from '#platform/storage/staging-sweep.ts';
import {
  type AcceptedDraft,
  after,
  DRAFT_GONE,
  type Draft,
  type DraftRef,
  draftOf,
  lockOpenDraft,
  ownerOf,
  recordOutcome,
} from './drafts.ts';

export interface DraftContents {
  tracks: NewTrack[];
  attachments: NewAttachment[];
  /** XML documents about the recording; the latest one of each flavor. */
  catalogs: DraftCatalog[];
}

export interface DraftCatalog extends NewDocument {
  id: string;
}

const STORED = ['id', 'flavor', 'tags', 'filename', 'mediatype', 'object_key as objectKey', 'size'] as const;

/** Reads the contents of a draft; empty once it is accepted. */
export async function readContents(db: Queryable, draftId: string): Promise<DraftContents> {
  return {
    tracks: await db
      .selectFrom('draft_tracks')
      .select([...STORED, 'sha256'])
      .where('draft_id', '=', draftId)
      .orderBy('position')
      .execute(),
    attachments: await db
      .selectFrom('draft_attachments')
      .select([...STORED, 'sha256'])
      .where('draft_id', '=', draftId)
      .orderBy('flavor')
      .orderBy('id')
      .execute(),
    catalogs: await db
      .selectFrom('draft_catalogs')
      .select(['id', 'flavor', 'filename', 'content'])
      .where('draft_id', '=', draftId)
      .orderBy('flavor')
      .execute(),
  };
}

/**
 * Adds elements to a draft, whose objects this process has stored and staged; they then expire with the draft. Skips
 * elements that it already has, because clients repeat requests whose answers they lost.
 *
 * @returns the keys of unneeded objects, to be discarded after the commit
 * @throws {HttpError} as `lockOpenDraft`
 * @throws {StagingExpired} if one of the objects was swept; the transaction must roll back
 */
export async function addToDraft(
  trx: Transaction,
  which: DraftRef,
  contents: Partial<DraftContents>,
  staging: StagingLedger,
): Promise<string[]> {
  const draft = await lockOpenDraft(trx, which);
  const missing = missingIn(await readContents(trx, which.id), contents);
  await insertContents(trx, which.id, missing);
  await trx.updateTable('drafts').set({ changed_at: sql<Date>`now()` }).where('id', '=', which.id).execute();
  const kept = objectKeysOf(missing);
  await staging.handToOwner(trx, kept, { owner: ownerOf(which.id), expiresAt: draft.expiresAt });
  return objectKeysOf(contents).filter((key) => !kept.includes(key));
}

/** Makes a draft expire `lifetimeMs` from now. @throws {HttpError} as `lockOpenDraft` */
export async function extendDraft(trx: Transaction, which: DraftRef, lifetimeMs: number): Promise<Draft> {
  await lockOpenDraft(trx, which);
  const row = await trx
    .updateTable('drafts')
    .set({ expires_at: after(lifetimeMs) })
    .where('id', '=', which.id)
    .returningAll()
    .executeTakeFirstOrThrow();
  const keys = objectKeysOf(await readContents(trx, which.id));
  await updateOwned(trx, ownerOf(which.id), keys, { expires_at: row.expires_at }).catch(orGone(which.id));
  return draftOf(row);
}

/**
 * Takes the contents of a draft for an event that the same transaction writes: its objects leave the staging ledger,
 * whichever process has stored them. Call `recordOutcome` afterwards.
 *
 * @throws {HttpError} as `lockOpenDraft`; the transaction must roll back
 */
export async function takeDraft(trx: Transaction, which: DraftRef): Promise<DraftContents> {
  await lockOpenDraft(trx, which);
  const contents = await readContents(trx, which.id);
  await commitOwned(trx, ownerOf(which.id), objectKeysOf(contents)).catch(orGone(which.id));
  await removeContents(trx, which.id);
  return contents;
}

/**
 * Discards the contents of a draft, because an event has them already; the objects are removed soon after the commit.
 *
 * @throws {HttpError} as `lockOpenDraft`
 */
export async function discardContents(trx: Transaction, which: DraftRef, accepted: AcceptedDraft): Promise<void> {
  await lockOpenDraft(trx, which);
  await releaseOwned(trx, ownerOf(which.id));
  await removeContents(trx, which.id);
  await recordOutcome(trx, which.id, accepted);
}

/** Returns the elements that a draft lacks. Files are equal if their flavors and bytes are. */
function missingIn(
  held: DraftContents,
  { tracks = [], attachments = [], catalogs = [] }: Partial<DraftContents>,
): DraftContents {
  return {
    tracks: tracks.filter((track) => !held.tracks.some((other) => isSame(track, other))),
    attachments: attachments.filter((file) => !held.attachments.some((other) => isSame(file, other))),
    catalogs,
  };
}

async function insertContents(
  trx: Transaction,
  draftId: string,
  { tracks, attachments, catalogs }: DraftContents,
): Promise<void> {
  if (tracks.length > 0) {
    const { next } = await trx
      .selectFrom('draft_tracks')
      .select(sql<number>`coalesce(max(position) + 1, 0)`.as('next'))
      .where('draft_id', '=', draftId)
      .executeTakeFirstOrThrow();
    const rows = tracks.map((track, i) => ({ ...rowOf(draftId, track), position: next + i }));
    await trx.insertInto('draft_tracks').values(rows).execute();
  }
  if (attachments.length > 0) {
    const rows = attachments.map((file) => ({ ...rowOf(draftId, file), sha256: file.sha256 }));
    await trx.insertInto('draft_attachments').values(rows).execute();
  }
  for (const { id, flavor, filename, content } of catalogs) {
    await trx
      .insertInto('draft_catalogs')
      .values({ draft_id: draftId, id, flavor, filename, content })
      .onConflict((same) => same.columns(['draft_id', 'flavor']).doUpdateSet({ id, filename, content }))
      .execute();
  }
}

/** Empties a locked draft, but keeps its objects. */
async function removeContents(trx: Transaction, draftId: string): Promise<void> {
  for (const table of ['draft_tracks', 'draft_attachments', 'draft_catalogs'] as const) {
    await trx.deleteFrom(table).where('draft_id', '=', draftId).execute();
  }
}

function objectKeysOf({ tracks = [], attachments = [] }: Partial<DraftContents>): string[] {
  return [...tracks, ...attachments].map(({ objectKey }) => objectKey);
}

function isSame(a: NewTrack, b: NewTrack): boolean {
  return a.flavor === b.flavor && a.size === b.size && a.sha256 !== null && a.sha256 === b.sha256;
}

function rowOf(draftId: string, { objectKey, tags = [], ...element }: NewTrack) {
  return { ...element, tags: [...tags], object_key: objectKey, draft_id: draftId };
}

/** Returns a handler for faults of the ledger: a draft whose objects were swept is gone. */
function orGone(id: string): (error: unknown) => never {
  return (error) => {
    throw error instanceof StagingExpired ? DRAFT_GONE(id) : error;
  };
}
