import { createHash, randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import type { Insertable } from 'kysely';
import type { Database } from '../../src/database/kysely.ts';
import type { Event, PublicationElement } from '../../src/database/schema.ts';
import { objectKey } from '../../src/storage/keys.ts';
import type { ObjectStorage } from '../../src/storage/port.ts';

/** An event with as little as the schema asks for, and what `values` adds. */
export async function insertEvent(
  database: Database,
  values: Partial<Insertable<Event>> = {},
): Promise<string> {
  const id = values.id ?? randomUUID();
  const start = new Date('2026-04-13T08:15:00Z');
  await database
    .insertInto('events')
    .values({ id, title: 'Lecture', creator: 'Tester', start_date: start, created: start, ...values })
    .execute();
  return id;
}

/** A publication row on a channel, without elements. */
export async function insertPublication(
  database: Database,
  eventId: string,
  channel = 'engage-player',
): Promise<string> {
  const id = randomUUID();
  await database
    .insertInto('publications')
    .values({ id, event_id: eventId, channel, mediatype: 'text/html' })
    .execute();
  return id;
}

type ElementValues = Partial<Insertable<PublicationElement>> & {
  event_id: string;
  kind: 'media' | 'attachment' | 'metadata';
};

/** Stores bytes as an object and enters them as an element: prepared, or published when a publication is given. */
export async function insertElement(
  database: Database,
  storage: ObjectStorage,
  bytes: Uint8Array,
  values: ElementValues,
): Promise<Insertable<PublicationElement>> {
  const key = objectKey('element');
  const element = {
    id: randomUUID(),
    position: 0,
    flavor: 'presenter/delivery',
    filename: 'file.bin',
    mediatype: 'application/octet-stream',
    object_key: key,
    size: bytes.length,
    sha256: createHash('sha256').update(bytes).digest('hex'),
    ...(values.kind === 'media' && { has_audio: true, has_video: true }),
    ...values,
  };
  await storage.put(key, Readable.from([bytes]), { mediatype: element.mediatype });
  await database.insertInto('publication_elements').values(element).execute();
  return element;
}
