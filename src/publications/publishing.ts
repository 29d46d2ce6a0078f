import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { recordChanges } from '#changes/record.ts';
import type { Queryable, Transaction } from '#platform/database/kysely.ts';
import { releaseObjects } from '#platform/storage/staging-entries.ts';
import { INTERNAL_CHANNEL } from './model.ts';

const PAGE = 'text/html';
const EPISODE_CATALOG = { kind: 'metadata', flavor: 'dublincore/episode', mediatype: 'text/xml' } as const;

/**
 * Whether publishing on the channel has media to show: newly prepared ones, those that are internal so far, or those it
 * shows already.
 */
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

/** What is to be public, and where. */
export interface PublishRequest {
  eventId: string;
  channel: string;
  /** The stored Dublin Core XML of the event. */
  catalog: { objectKey: string; filename: string; size: number; sha256: string };
}

/**
 * Makes the event's prepared elements and its catalog public on the channel. A publication that is there keeps its
 * identifier, so that links to it stay good. Prepared media replace all it had; without any, each element replaces
 * those of its kind and flavor, which leaves the media and brings fresh metadata. The objects of what is replaced are
 * released. What is internal so far goes public like what was prepared, and its publication ends.
 */
export async function publishElements(trx: Transaction, request: PublishRequest): Promise<void> {
  const { eventId, channel } = request;
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
  await removeReplaced(trx, id, [...(await preparedElements(trx, eventId)), EPISODE_CATALOG]);
  await trx
    .updateTable('publication_elements')
    .set({ publication_id: id })
    .where('event_id', '=', eventId)
    .where('publication_id', 'is', null)
    .execute();
  await addCatalog(trx, id, request);
  await recordPublished(trx, id, request);
}

/** The channels that an event is published on. */
export async function channelsOf(database: Queryable, eventId: string): Promise<string[]> {
  const publications = await database
    .selectFrom('publications')
    .select('channel')
    .where('event_id', '=', eventId)
    .orderBy('channel')
    .execute();
  return publications.map(({ channel }) => channel);
}

/** Replaces the catalog of the event's publication on the channel, and nothing else of it. */
export async function republishCatalog(trx: Transaction, request: PublishRequest): Promise<void> {
  const { eventId, channel, catalog } = request;
  const publication = await trx
    .updateTable('publications')
    .set({ published_at: sql<Date>`now()` })
    .where('event_id', '=', eventId)
    .where('channel', '=', channel)
    .returning('id')
    .executeTakeFirst();
  // It has been retracted meanwhile.
  if (!publication) return releaseObjects(trx, [catalog.objectKey]);
  await removeReplaced(trx, publication.id, [EPISODE_CATALOG]);
  await addCatalog(trx, publication.id, request);
  await recordPublished(trx, publication.id, request, { renewed: true });
}

async function addCatalog(
  trx: Transaction,
  publicationId: string,
  { eventId, catalog }: PublishRequest,
): Promise<void> {
  await trx
    .insertInto('publication_elements')
    .values({
      ...EPISODE_CATALOG,
      id: randomUUID(),
      event_id: eventId,
      publication_id: publicationId,
      position: 0,
      filename: catalog.filename,
      object_key: catalog.objectKey,
      size: catalog.size,
      sha256: catalog.sha256,
    })
    .execute();
}

/** @param more.renewed only its metadata have changed */
function recordPublished(
  trx: Transaction,
  publication: string,
  { eventId, channel }: PublishRequest,
  more: { renewed?: true } = {},
): Promise<void> {
  const data = { publication, channel, ...more };
  return recordChanges(trx, [{ kind: 'publication.published', eventId, data }]);
}

/** Ends the internal publication. Its elements are prepared ones again, but for those prepared anew since. */
async function endInternal(trx: Transaction, eventId: string): Promise<void> {
  const internal = await trx
    .selectFrom('publications')
    .select('id')
    .where('event_id', '=', eventId)
    .where('channel', '=', INTERNAL_CHANNEL)
    .forUpdate()
    .executeTakeFirst();
  if (!internal) return;
  await removeReplaced(trx, internal.id, [...(await preparedElements(trx, eventId)), EPISODE_CATALOG]);
  await trx
    .updateTable('publication_elements')
    .set({ publication_id: null })
    .where('publication_id', '=', internal.id)
    .execute();
  await trx.deleteFrom('publications').where('id', '=', internal.id).execute();
}

function preparedElements(trx: Transaction, eventId: string) {
  return trx
    .selectFrom('publication_elements')
    .select(['kind', 'flavor'])
    .where('event_id', '=', eventId)
    .where('publication_id', 'is', null)
    .execute();
}

async function removeReplaced(
  trx: Transaction,
  publicationId: string,
  successors: readonly { kind: string; flavor: string }[],
): Promise<void> {
  let replaced = trx.deleteFrom('publication_elements').where('publication_id', '=', publicationId);
  if (!successors.some(({ kind }) => kind === 'media')) {
    replaced = replaced.where((eb) => eb.or(successors.map(({ kind, flavor }) => eb.and({ kind, flavor }))));
  }
  const removed = await replaced.returning('object_key').execute();
  await releaseObjects(
    trx,
    removed.map(({ object_key }) => object_key),
  );
}

/**
 * Takes an event's publication off a channel, or all of its publications when none is named. Their objects are
 * released; prepared elements stay.
 *
 * @returns how many publications were removed
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
  await releaseObjects(
    trx,
    removed.map(({ object_key }) => object_key),
  );
  await trx.deleteFrom('publications').where('id', 'in', ids).execute();
  await recordChanges(
    trx,
    publications.map(({ id, channel }) => ({
      kind: 'publication.retracted',
      eventId,
      data: { publication: id, channel },
    })),
  );
  return ids.length;
}
