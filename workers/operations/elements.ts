import { randomUUID } from 'node:crypto';
import type { Insertable } from 'kysely';
import type { Database, Transaction } from '#platform/database/kysely.ts';
import type { PublicationElement } from '#platform/database/schema.ts';
import type { KeptPart } from '#platform/media/kept.ts';
import { releaseObjects } from '#platform/storage/staging-entries.ts';
import { CAPTIONS } from '#publications/model.ts';
import type { StoredFile } from './operation.ts';

/** What a client sent or a program of the site made, as far as operations work with it. */
export interface SourceTrack {
  id: string;
  position: number;
  flavor: string;
  object_key: string;
  sha256: string | null;
  /** Milliseconds; null until it is inspected. */
  duration: number | null;
  /** What the workflow leaves of it; null when that is all, and nothing when it is left out. */
  kept: KeptPart[] | null;
  /** Null for what clients sent. */
  made_by: string | null;
}

/** The tracks of an event that are to be seen or heard, in order; captions and documents are neither. */
export async function sourceTracks(database: Database, eventId: string): Promise<SourceTrack[]> {
  const tracks = await database
    .selectFrom('tracks')
    .select(['id', 'position', 'flavor', 'object_key', 'sha256', 'duration', 'kept_parts', 'made_by'])
    .where('event_id', '=', eventId)
    .where('is_media', '=', true)
    .orderBy('position')
    .execute();
  return tracks.map(({ kept_parts, ...track }) => ({
    ...track,
    duration: track.duration === null ? null : Number(track.duration),
    kept: kept_parts as KeptPart[] | null,
  }));
}

/** Those of the tracks of an event that are to be prepared: a cut may leave nothing of some. */
export async function tracksToPrepare(database: Database, eventId: string): Promise<SourceTrack[]> {
  const tracks = await sourceTracks(database, eventId);
  return tracks.filter(({ kept }) => kept?.length !== 0);
}

/** Where the prepared media of an event are stored, by the position of the track they were made of. */
export async function preparedMedia(database: Database, eventId: string): Promise<Map<number, string>> {
  const rows = await database
    .selectFrom('publication_elements')
    .select(['position', 'object_key'])
    .where('event_id', '=', eventId)
    .where('publication_id', 'is', null)
    .where('kind', '=', 'media')
    .execute();
  return new Map(rows.map(({ position, object_key }) => [position, object_key]));
}

type ElementFacts = Omit<
  Insertable<PublicationElement>,
  'id' | 'event_id' | 'publication_id' | 'kind' | 'object_key' | 'size' | 'sha256'
>;

/** A result to be published later: what is known of it, and where it is stored. */
export interface PreparedElement extends ElementFacts {
  stored: StoredFile;
}

/**
 * Writes what one operation prepared. What an earlier run of it prepared, and no publication took, is replaced and its
 * objects released. Captions are attachments like images, and made by an operation of their own.
 */
export async function replacePrepared(
  trx: Transaction,
  eventId: string,
  what: 'media' | 'images' | 'captions',
  elements: readonly PreparedElement[],
): Promise<void> {
  const kind = what === 'media' ? 'media' : 'attachment';
  const earlier = await trx
    .deleteFrom('publication_elements')
    .where('event_id', '=', eventId)
    .where('publication_id', 'is', null)
    .where('kind', '=', kind)
    .where('flavor', what === 'captions' ? '=' : '<>', CAPTIONS)
    .returning('object_key')
    .execute();
  await releaseObjects(
    trx,
    earlier.map(({ object_key }) => object_key),
  );
  if (elements.length === 0) return;
  const rows = elements.map(({ stored, ...facts }) => ({
    ...facts,
    id: randomUUID(),
    event_id: eventId,
    kind,
    object_key: stored.objectKey,
    size: stored.size,
    sha256: stored.sha256,
  }));
  await trx.insertInto('publication_elements').values(rows).execute();
}

/** The first part of a flavor: whose track it is. */
export function flavorType(flavor: string): string {
  return flavor.split('/', 1)[0] ?? flavor;
}

/**
 * Begins of file names, one for each track: its flavor's type, and its position where an earlier track has the same.
 */
export function fileStems(tracks: readonly SourceTrack[]): Map<string, string> {
  const taken = new Set<string>();
  return new Map(
    tracks.map((track) => {
      const type = flavorType(track.flavor).replaceAll(/[^A-Za-z0-9._-]+/g, '-');
      const stem = taken.has(type) ? `${type}-${track.position + 1}` : type;
      taken.add(stem);
      return [track.id, stem];
    }),
  );
}
