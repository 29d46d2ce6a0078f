import { type Insertable, sql } from 'kysely';
import type { Transaction } from '#platform/database/kysely.ts';
import type { PublicationElement } from '#platform/database/schema.ts';
import { captionWords, saveCaptionWords } from './caption-words.ts';
import { recordPublished, releaseElements, retractPublications } from './publish.ts';

/** An element of a publication that was made elsewhere. */
export interface GivenElement {
  /** Without identifiers of the event and the publication. */
  facts: Omit<Insertable<PublicationElement>, 'event_id' | 'publication_id' | 'object_key' | 'size' | 'sha256'>;
  /** The stored file; undefined to keep the one of the element with this identifier. */
  file: { objectKey: string; size: number; sha256: string } | undefined;
  /** The text of captions, if it is new: WebVTT. */
  captions?: string | undefined;
}

export interface GivenPublication {
  id: string;
  channel: string;
  mediatype: string;
  /** By default now. */
  publishedAt?: Date | undefined;
  elements: readonly GivenElement[];
}

/**
 * Replaces all publications of a locked event by those of another catalogue. Elements keep their files where none is given.
 * Objects of removed elements are released; the caller removes the objects of new ones from the staging ledger.
 */
export async function replacePublications(
  trx: Transaction,
  eventId: string,
  publications: readonly GivenPublication[],
): Promise<void> {
  const kept = publications.flatMap(({ elements }) =>
    elements.filter(({ file }) => !file).map(({ facts }) => facts.id),
  );
  // They may move to another publication.
  await trx
    .updateTable('publication_elements')
    .set({ publication_id: null })
    .where('event_id', '=', eventId)
    .where('id', '=', sql<string>`ANY(${kept}::uuid[])`)
    .execute();
  const present = await trx
    .selectFrom('publications')
    .select(['id', 'channel'])
    .where('event_id', '=', eventId)
    .execute();
  for (const { id, channel } of present) {
    const stays = publications.some((each) => each.id === id && each.channel === channel);
    if (!stays) await retractPublications(trx, { eventId, channel });
  }
  for (const publication of publications) await replacePublication(trx, eventId, publication);
}

async function replacePublication(
  trx: Transaction,
  eventId: string,
  { id: given, channel, mediatype, publishedAt, elements }: GivenPublication,
): Promise<void> {
  const { id } = await trx
    .insertInto('publications')
    .values({ id: given, event_id: eventId, channel, mediatype, ...(publishedAt && { published_at: publishedAt }) })
    .onConflict((same) =>
      same.columns(['event_id', 'channel']).doUpdateSet((eb) => ({
        mediatype: eb.ref('excluded.mediatype'),
        published_at: eb.ref('excluded.published_at'),
      })),
    )
    .returning('id')
    .executeTakeFirstOrThrow();
  const removed = await trx
    .deleteFrom('publication_elements')
    .where('publication_id', '=', id)
    .returning('object_key')
    .execute();
  await releaseElements(trx, removed);
  for (const { facts, file, captions } of elements) {
    const place = { event_id: eventId, publication_id: id };
    if (!file) {
      await trx
        .updateTable('publication_elements')
        .set({ ...facts, ...place })
        .where('id', '=', facts.id)
        .execute();
      continue;
    }
    const { objectKey: object_key, ...stored } = file;
    await trx
      .insertInto('publication_elements')
      .values({ ...facts, ...place, ...stored, object_key })
      .execute();
    if (captions !== undefined) await saveCaptionWords(trx, { elementId: facts.id, eventId }, captionWords(captions));
  }
  await recordPublished(trx, id, { eventId, channel });
}
