import { randomUUID } from 'node:crypto';
import type { Insertable } from 'kysely';
import { recordChanges } from '#changes/record-changes.ts';
import type { Database, Transaction } from '#platform/database/kysely.ts';
import type { Event, PublicationElement } from '#platform/database/schema.ts';
import { objectKey } from '#platform/storage/object-keys.ts';
import { publishElements } from '#publications/publish.ts';
import { insertEvent } from './publication.ts';

const FILE = { size: 1, sha256: 'a'.repeat(64) };

/** Publishes an event as a workflow does, with files that nobody opens. */
export async function publishEvent(
  trx: Transaction,
  eventId: string,
  elements: readonly Partial<Insertable<PublicationElement>>[] = [{}],
  channel = 'engage-player',
): Promise<void> {
  const rows = elements.map((element, position) => ({
    ...{ id: randomUUID(), event_id: eventId, position, object_key: objectKey('element'), ...FILE },
    ...{ kind: 'media', flavor: 'presenter/delivery', filename: 'a.mp4', mediatype: 'video/mp4' },
    ...((element.kind ?? 'media') === 'media' && { has_audio: true, has_video: true, duration: 60_000 }),
    ...element,
  }));
  await trx.insertInto('publication_elements').values(rows).execute();
  const catalog = { objectKey: objectKey('element'), filename: 'episode.xml', ...FILE };
  await publishElements(trx, { eventId, channel, catalog });
}

/** A published event. @returns its identifier */
export async function insertPublished(
  database: Database,
  values: Partial<Insertable<Event>> = {},
  elements?: readonly Partial<Insertable<PublicationElement>>[],
): Promise<string> {
  const id = await insertEvent(database, values);
  await database.transaction().execute((trx) => publishEvent(trx, id, elements));
  return id;
}

/** Records that an event was changed, without changing it. */
export const touchEvent = (trx: Transaction, eventId: string) =>
  recordChanges(trx, [{ kind: 'event.changed', eventId, data: { parts: ['metadata'] } }]);
