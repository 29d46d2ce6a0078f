import { randomUUID } from 'node:crypto';
import type { Insertable } from 'kysely';
import type { Database } from '#platform/database/kysely.ts';
import type { Event, PublicationElement } from '#platform/database/schema.ts';
import { objectKey } from '#platform/storage/object-keys.ts';
import type { ObjectStorage } from '#platform/storage/object-storage.ts';
import type { PublicationElement as StoredElement } from '#publications/publication.ts';
import { sha256, source } from './bytes.ts';

/** An event with as little as the schema asks for, and what `values` adds. */
export async function insertEvent(database: Database, values: Partial<Insertable<Event>> = {}): Promise<string> {
  const id = values.id ?? randomUUID();
  const start = new Date('2026-04-13T08:15:00Z');
  await database
    .insertInto('events')
    .values({ id, title: 'Lecture', creator: 'Tester', start_date: start, created: start, ...values })
    .execute();
  return id;
}

/** The tracks of an event as they are stored, in their order. */
export const tracksOf = (database: Database, eventId: string) =>
  database.selectFrom('tracks').selectAll().where('event_id', '=', eventId).orderBy('position').execute();

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
  kind: 'media' | 'attachment' | 'metadata' | 'piece';
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
    sha256: sha256(bytes),
    ...(values.kind === 'media' && { has_audio: true, has_video: true }),
    ...values,
  };
  await storage.put(key, source(Buffer.from(bytes)), { mediatype: element.mediatype });
  await database.insertInto('publication_elements').values(element).execute();
  return element;
}

/** A published video as it is read from the database, and what `values` changes of it. */
export function publishedElement(values: Partial<StoredElement> = {}): StoredElement {
  return {
    id: 'e1',
    event_id: 'event',
    publication_id: '7b6b3f0e-6b1c-4b44-9f3c-0d4b5a1f2e11',
    position: 0,
    kind: 'media',
    flavor: 'presenter/delivery',
    filename: 'presenter.mp4',
    mediatype: 'video/mp4',
    tags: ['engage-download'],
    object_key: 'element/aa/secret',
    size: 1234,
    sha256: 'a'.repeat(64),
    duration: 60_000,
    has_audio: true,
    has_video: true,
    width: 1280,
    height: 720,
    frame_rate: 25,
    frame_count: 1500,
    bit_rate: 800_000,
    properties: {},
    track: null,
    workflow_id: null,
    ...values,
  };
}
