import { sql } from 'kysely';
import type { NewAttachment } from '#catalogue/events/attachments.ts';
import type { NewDocument } from '#catalogue/events/documents.ts';
import type { NewTrack } from '#catalogue/events/tracks.ts';
import type { Queryable, Transaction } from '#platform/database/kysely.ts';

/** What a draft holds. */
export interface DraftContents {
  /** In the order in which they came. */
  tracks: NewTrack[];
  attachments: NewAttachment[];
  /** XML that says something of the recording; of each flavor the one that came last. */
  catalogs: DraftCatalog[];
}

export interface DraftCatalog extends NewDocument {
  id: string;
}

const STORED = ['id', 'flavor', 'tags', 'filename', 'mediatype', 'object_key as objectKey', 'size'] as const;

/** What a draft holds; nothing any more once it is accepted. */
export async function contentsOf(db: Queryable, draftId: string): Promise<DraftContents> {
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

/** Of what is sent, what is not there already: files of the same flavor and the same bytes are. */
export function missingIn(
  held: DraftContents,
  { tracks = [], attachments = [], catalogs = [] }: Partial<DraftContents>,
): DraftContents {
  return {
    tracks: tracks.filter((track) => !held.tracks.some((other) => isSame(track, other))),
    attachments: attachments.filter((file) => !held.attachments.some((other) => isSame(file, other))),
    catalogs,
  };
}

/** Writes more into a locked draft. */
export async function insertContents(
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

/** Empties a locked draft; its objects are the caller's. */
export async function removeContents(trx: Transaction, draftId: string): Promise<void> {
  for (const table of ['draft_tracks', 'draft_attachments', 'draft_catalogs'] as const) {
    await trx.deleteFrom(table).where('draft_id', '=', draftId).execute();
  }
}

/** Where the files among them are stored. */
export function keysOf({
  tracks = [],
  attachments = [],
}: Partial<Pick<DraftContents, 'tracks' | 'attachments'>>): string[] {
  return [...tracks, ...attachments].map(({ objectKey }) => objectKey);
}

function isSame(a: NewTrack, b: NewTrack): boolean {
  return a.flavor === b.flavor && a.size === b.size && a.sha256 !== null && a.sha256 === b.sha256;
}

function rowOf(draftId: string, { objectKey, tags = [], ...element }: NewTrack) {
  return { ...element, tags: [...tags], object_key: objectKey, draft_id: draftId };
}
