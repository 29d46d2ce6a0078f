import { randomUUID } from 'node:crypto';
import { type Insertable, sql } from 'kysely';
import { recordChanges } from '#changes/record-changes.ts';
import type { Queryable, Transaction } from '#platform/database/kysely.ts';
import type { PublicationElement } from '#platform/database/schema.ts';
import { releaseObjects } from '#platform/storage/staging-sweep.ts';
import { saveCaptionWords } from './caption-words.ts';
import { INTERNAL_CHANNEL } from './publication.ts';

const PAGE = 'text/html';
const EPISODE_CATALOG = { kind: 'metadata', flavor: 'dublincore/episode', mediatype: 'text/xml' } as const;

/** Returns true if a publication on the channel has media: newly prepared, internal or already published on it. */
export async function hasMediaFor(database: Queryable, eventId: string, channel: string): Promise<boolean> {
  const media = await database
    .selectFrom('publication_elements')
    .leftJoin('publications', 'publications.id', 'publication_elements.publication_id')
    .select('publication_elements.id')
    .where('publication_elements.event_id', '=', eventId)
    .where('publication_elements.kind', '=', 'media')
    .where((eb) =>
      eb.or([
        eb('publication_elements.publication_id', 'is', null),
        eb('publications.channel', 'in', [channel, INTERNAL_CHANNEL]),
      ]),
    )
    .limit(1)
    .executeTakeFirst();
  return media !== undefined;
}

/**
 * Returns true if a workflow has prepared media that it may publish before everything exists: nothing internal is
 * published, and nothing on the channel that another workflow or an import has published.
 */
export async function hasMediaForEarly(
  database: Queryable,
  { eventId, channel, workflowId }: { eventId: string; channel: string; workflowId: number },
): Promise<boolean> {
  const prepared = await preparedElements(database, eventId, workflowId);
  if (!prepared.some(({ kind }) => kind === 'media')) return false;
  const publications = database.selectFrom('publications').select(['id', 'channel']).where('event_id', '=', eventId);
  for (const { id, channel: other } of await publications.execute()) {
    if (other === INTERNAL_CHANNEL) return false;
    if (other === channel && (await hasMediaOfOthers(database, { publicationId: id, workflowId }))) return false;
  }
  return true;
}

export interface PublishRequest {
  eventId: string;
  channel: string;
  /** For an early publication: the workflow, of which only the elements are published and more will follow. */
  earlyOf?: number | undefined;
  /** The stored Dublin Core XML of the event. */
  catalog: { objectKey: string; filename: string; size: number; sha256: string };
}

/**
 * Publishes the event's prepared elements and its catalog on the channel. An existing publication keeps its identifier,
 * so that links stay valid. Prepared media replace all elements except those of the workflow that made them. Each other
 * element replaces those of the same kind and flavor, so that media stay and metadata are updated. Elements of the
 * internal publication are published like prepared ones, and that publication ends. Objects of replaced elements are
 * released.
 */
export async function publishElements(trx: Transaction, request: PublishRequest): Promise<void> {
  const { eventId, channel, earlyOf } = request;
  if (channel !== INTERNAL_CHANNEL) await endInternal(trx, eventId);
  const { id } = await trx
    .insertInto('publications')
    .values({ id: randomUUID(), event_id: eventId, channel, mediatype: PAGE })
    .onConflict((conflict) =>
      conflict.columns(['event_id', 'channel']).doUpdateSet((eb) => ({
        mediatype: eb.ref('excluded.mediatype'),
        published_at: eb.ref('excluded.published_at'),
      })),
    )
    .returning('id')
    .executeTakeFirstOrThrow();
  const prepared = await preparedElements(trx, eventId, earlyOf);
  await removeReplaced(trx, id, [...prepared, EPISODE_CATALOG]);
  const gained = prepared.some(({ kind }) => kind === 'media') && (await hasMedia(trx, id));
  await trx
    .updateTable('publication_elements')
    .set({ publication_id: id })
    .where('id', '=', sql<string>`ANY(${prepared.map((element) => element.id)}::uuid[])`)
    .execute();
  await addCatalog(trx, id, request);
  const isEarly = earlyOf !== undefined;
  await recordPublished(trx, id, request, {
    ...(isEarly && { partial: true }),
    ...(gained && !isEarly && { completed: true }),
  });
}

/** Captions to be added to a publication, in a stored file. */
export interface AddedCaptions extends Omit<Insertable<PublicationElement>, 'position' | 'kind' | 'publication_id'> {
  /** Those that are said, from `captionWords`. */
  words: readonly string[];
  /** Null to add them to the elements that are prepared for publication. */
  publicationId: string | null;
  /** The tags of captions that these replace. */
  replacedTags: readonly (readonly string[])[];
}

/** Adds captions to a publication, which stays as it is otherwise. If it has just been retracted, releases their object. */
export async function addCaptions(trx: Transaction, added: AddedCaptions): Promise<void> {
  const { publicationId, replacedTags, words, ...element } = added;
  const publications = trx
    .selectFrom('publications')
    .select(['id', 'channel'])
    .where('event_id', '=', element.event_id);
  const publication =
    publicationId === null ? undefined : await publications.where('id', '=', publicationId).executeTakeFirst();
  if (publicationId !== null && !publication) return releaseObjects(trx, [element.object_key]);
  const isInPlace = sql<boolean>`event_id = ${element.event_id} AND publication_id IS NOT DISTINCT FROM ${publicationId}
    AND kind = 'attachment' AND flavor = ${element.flavor}`;
  for (const tags of replacedTags) {
    const hasTags = sql<boolean>`tags = ${[...tags]}::text[]`;
    const replaced = trx.deleteFrom('publication_elements').where(isInPlace).where(hasTags);
    await releaseElements(trx, await replaced.returning('object_key').execute());
  }
  const position = sql<number>`(SELECT coalesce(max(position) + 1, 0) FROM publication_elements WHERE ${isInPlace})`;
  const row = { ...element, kind: 'attachment', publication_id: publicationId, position };
  await trx.insertInto('publication_elements').values(row).execute();
  await saveCaptionWords(trx, { elementId: element.id, eventId: element.event_id }, words);
  if (publication)
    await recordPublished(trx, publication.id, { eventId: element.event_id, ...publication }, { renewed: true });
}

/** Returns the channels on which an event is published. */
export async function channelsOf(database: Queryable, eventId: string): Promise<string[]> {
  const publications = database.selectFrom('publications').select('channel').where('event_id', '=', eventId);
  return (await publications.orderBy('channel').execute()).map(({ channel }) => channel);
}

/** Replaces only the catalog of the event's publication on the channel. */
export async function republishCatalog(trx: Transaction, request: PublishRequest): Promise<void> {
  const { eventId, channel, catalog } = request;
  const publication = await trx
    .updateTable('publications')
    .set({ published_at: sql<Date>`now()` })
    .where('event_id', '=', eventId)
    .where('channel', '=', channel)
    .returning('id')
    .executeTakeFirst();
  // It has just been retracted.
  if (!publication) return releaseObjects(trx, [catalog.objectKey]);
  await removeReplaced(trx, publication.id, [EPISODE_CATALOG]);
  await addCatalog(trx, publication.id, request);
  await recordPublished(trx, publication.id, request, { renewed: true });
}

async function addCatalog(trx: Transaction, publicationId: string, request: PublishRequest): Promise<void> {
  const { objectKey, ...file } = request.catalog;
  const row = { id: randomUUID(), event_id: request.eventId, publication_id: publicationId, position: 0 };
  await trx
    .insertInto('publication_elements')
    .values({ ...EPISODE_CATALOG, ...row, ...file, object_key: objectKey })
    .execute();
}

/** Returns true if a publication has media. */
async function hasMedia(trx: Transaction, publicationId: string): Promise<boolean> {
  const media = trx.selectFrom('publication_elements').select('id').where('publication_id', '=', publicationId);
  return (await media.where('kind', '=', 'media').limit(1).executeTakeFirst()) !== undefined;
}

/**
 * @param more.renewed true if only the metadata have changed; `partial` if more renditions will follow; `completed` if
 *   they have joined earlier ones
 */
export function recordPublished(
  trx: Transaction,
  publication: string,
  { eventId, channel }: Pick<PublishRequest, 'eventId' | 'channel'>,
  more: { renewed?: true; partial?: true; completed?: true } = {},
): Promise<void> {
  const data = { publication, channel, ...more };
  return recordChanges(trx, [{ kind: 'publication.published', eventId, data }]);
}

/** Withdraws the publication on a channel if all its media are of this workflow. */
export async function withdrawPublication(
  trx: Transaction,
  { eventId, channel, workflowId }: { eventId: string; channel: string; workflowId: number },
): Promise<void> {
  const id = await lockPublication(trx, eventId, channel);
  if (id === undefined) return;
  if (await hasMediaOfOthers(trx, { publicationId: id, workflowId })) return;
  await endPublication(trx, eventId, id);
  const data = { publication: id, channel };
  await recordChanges(trx, [{ kind: 'publication.retracted', eventId, data }]);
}

/** Returns true if a publication has media that another workflow has made, or an import. */
async function hasMediaOfOthers(
  database: Queryable,
  { publicationId, workflowId }: { publicationId: string; workflowId: number },
): Promise<boolean> {
  const elements = database.selectFrom('publication_elements').select('id').where('publication_id', '=', publicationId);
  // Negative for those that an operation has replaced since.
  const isOther = sql<boolean>`kind = 'media' AND abs(workflow_id) IS DISTINCT FROM ${workflowId}`;
  return (await elements.where(isOther).limit(1).executeTakeFirst()) !== undefined;
}

async function endInternal(trx: Transaction, eventId: string): Promise<void> {
  const id = await lockPublication(trx, eventId, INTERNAL_CHANNEL);
  if (id !== undefined) await endPublication(trx, eventId, id);
}

async function lockPublication(trx: Transaction, eventId: string, channel: string): Promise<string | undefined> {
  const publication = trx.selectFrom('publications').select('id').where('event_id', '=', eventId);
  return (await publication.where('channel', '=', channel).forUpdate().executeTakeFirst())?.id;
}

/** Ends a publication. Its elements become prepared ones, except those that have been prepared again. */
async function endPublication(trx: Transaction, eventId: string, id: string): Promise<void> {
  await removeReplaced(trx, id, [...(await preparedElements(trx, eventId)), EPISODE_CATALOG]);
  await trx
    .updateTable('publication_elements')
    .set({ publication_id: null })
    .where('publication_id', '=', id)
    .execute();
  await trx.deleteFrom('publications').where('id', '=', id).execute();
}

/** @param workflowId only those of this workflow; undefined for all */
function preparedElements(trx: Queryable, eventId: string, workflowId?: number) {
  const prepared = trx
    .selectFrom('publication_elements')
    .select(['id', 'kind', 'flavor', 'filename', 'workflow_id'])
    .where('event_id', '=', eventId)
    .where('publication_id', 'is', null)
    .where('kind', '<>', 'piece');
  return (workflowId === undefined ? prepared : prepared.where('workflow_id', '=', workflowId)).execute();
}

async function removeReplaced(
  trx: Transaction,
  publicationId: string,
  successors: readonly { kind: string; flavor: string; filename?: string; workflow_id?: number | null }[],
): Promise<void> {
  const isMedia = ({ kind }: { kind: string }) => kind === 'media';
  const workflows = successors.filter(isMedia).flatMap(({ workflow_id }) => workflow_id ?? []);
  const replaced = await trx
    .deleteFrom('publication_elements')
    .where('publication_id', '=', publicationId)
    .where((eb) => {
      const same = successors.map(({ kind, flavor, filename }) =>
        eb.and({ kind, flavor, ...(isMedia({ kind }) && { filename }) }),
      );
      const others = sql<boolean>`coalesce(workflow_id, 0) <> ALL(${workflows}::bigint[])`;
      return eb.or(successors.some(isMedia) ? [...same, others] : same);
    })
    .returning('object_key')
    .execute();
  await releaseElements(trx, replaced);
}

/** Removes what a workflow has prepared and not published. */
export async function dropPrepared(
  trx: Transaction,
  { eventId, id }: Readonly<{ eventId: string; id: number }>,
): Promise<void> {
  const dropped = trx
    .deleteFrom('publication_elements')
    .where('event_id', '=', eventId)
    .where('workflow_id', '=', id)
    .where('publication_id', 'is', null);
  await releaseElements(trx, await dropped.returning('object_key').execute());
}

/** Releases the objects of removed elements. */
export function releaseElements(trx: Transaction, removed: readonly { object_key: string }[]): Promise<void> {
  const keys = removed.map(({ object_key }) => object_key);
  return releaseObjects(trx, keys);
}

/**
 * Removes an event's publication from a channel, or all its publications, and releases their objects. Prepared elements
 * stay.
 *
 * @returns the number of removed publications
 */
export async function retractPublications(
  trx: Transaction,
  { eventId, channel }: { eventId: string; channel: string | undefined },
): Promise<number> {
  let query = trx.selectFrom('publications').select(['id', 'channel']).where('event_id', '=', eventId);
  if (channel !== undefined) query = query.where('channel', '=', channel);
  const publications = await query.forUpdate().execute();
  const ids = publications.map(({ id }) => id);
  if (ids.length === 0) return 0;
  const removed = await trx
    .deleteFrom('publication_elements')
    .where('publication_id', 'in', ids)
    .returning('object_key')
    .execute();
  await releaseElements(trx, removed);
  await trx.deleteFrom('publications').where('id', 'in', ids).execute();
  const changes = publications.map(({ id, channel }) => ({
    ...{ kind: 'publication.retracted' as const, eventId },
    data: { publication: id, channel },
  }));
  await recordChanges(trx, changes);
  return ids.length;
}
