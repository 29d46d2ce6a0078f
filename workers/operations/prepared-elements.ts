import { randomUUID } from 'node:crypto';
import type { Insertable } from 'kysely';
import type { Database, Transaction } from '#platform/database/kysely.ts';
import type { PublicationElement } from '#platform/database/schema.ts';
import type { KeptPart } from '#platform/media/cutting.ts';
import { CAPTIONS, flavorOf } from '#publications/publication.ts';
import { releaseElements } from '#publications/publish.ts';
import type { StoredFile } from './operation.ts';

/** A track that a client sent or a program of the site made. */
export interface SourceTrack {
  id: string;
  position: number;
  flavor: string;
  object_key: string;
  sha256: string | null;
  /** Milliseconds; null before inspection. */
  duration: number | null;
  /** The parts that a cut keeps; null for the whole track, empty when it is left out. */
  kept: KeptPart[] | null;
  /** Null for tracks that clients sent. */
  made_by: string | null;
}

/** Returns the audio and video tracks of an event, in order; no captions and no documents. */
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

/** Returns the tracks to encode or preview; a cut may keep nothing of a track. */
export async function tracksToPrepare(database: Database, eventId: string): Promise<SourceTrack[]> {
  return (await sourceTracks(database, eventId)).filter(({ kept }) => kept?.length !== 0);
}

/** Returns the object keys of an event's prepared media, by the position of their track. */
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

/** A file to be published later. */
export interface PreparedElement extends ElementFacts {
  stored: StoredFile;
}

/**
 * Writes the elements that an operation prepared, replaces those of an earlier run that are not yet published, and
 * releases their objects. Captions are attachments too, but prepared by another operation than images.
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
  await releaseElements(trx, earlier);
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

/**
 * Returns the beginning of file names for each track: the type of its flavor, and its position if an earlier track has
 * the same type.
 */
export function fileStems(tracks: readonly SourceTrack[]): Map<string, string> {
  const taken = new Set<string>();
  return new Map(
    tracks.map((track) => {
      const type = flavorOf(track).type.replaceAll(/[^A-Za-z0-9._-]+/g, '-');
      const stem = taken.has(type) ? `${type}-${track.position + 1}` : type;
      taken.add(stem);
      return [track.id, stem];
    }),
  );
}
