import type { Insertable } from 'kysely';
import type { Transaction } from '#platform/database/kysely.ts';
import type { Track } from '#platform/database/schema.ts';
import { CAPTIONS_TYPE } from '#platform/media/media-type.ts';
import { releaseObjects } from '#platform/storage/staging-sweep.ts';

/** The flavor of a track: a type and a subtype, such as `presenter/source`. */
export const FLAVOR = /^[^/\s\p{C}]{1,128}\/[^/\s\p{C}]{1,128}$/u;

/** A track whose object is stored but not yet part of an event. */
export interface NewTrack {
  id: string;
  flavor: string;
  tags?: readonly string[];
  /** The name that the client sent: shown to people, never used as a path. */
  filename: string;
  mediatype: string;
  objectKey: string;
  /** In bytes. */
  size: number;
  /** In hexadecimal; null until inspection computes it. */
  sha256: string | null;
}

const UNKNOWN_TYPE = 'application/octet-stream';
/** Flavors of files that count as media if their type is unknown. */
const RECORDINGS = ['presenter/source', 'presentation/source', 'presenter-audio/source'];
/** The columns of captions, which are not inspected. */
const WITHOUT_MEDIA = { has_audio: false, has_video: false, streams: '[]' };

/** True if a track is audio or video. The generated column `tracks.is_media` follows the same rule. */
export function isMedia({ flavor, mediatype }: Pick<NewTrack, 'flavor' | 'mediatype'>): boolean {
  if (flavor.startsWith('captions/')) return false;
  if (/^(audio|video)\//.test(mediatype) || mediatype === 'application/mxf') return true;
  return mediatype === UNKNOWN_TYPE && RECORDINGS.includes(flavor);
}

/** Returns the row of a new track, without its position. */
export function trackRow(
  eventId: string,
  { objectKey, tags = [], ...track }: NewTrack,
): Omit<Insertable<Track>, 'position'> {
  return {
    ...track,
    event_id: eventId,
    object_key: objectKey,
    tags: [...tags],
    ...(track.mediatype === CAPTIONS_TYPE && WITHOUT_MEDIA),
  };
}

/** A file beside the tracks of a recording, such as a picture. Its object is stored but not yet part of an event. */
export interface NewAttachment extends NewTrack {
  sha256: string;
}

/**
 * Adds attachments to a locked event. An attachment whose flavor the event already has is dropped and its object released,
 * so that later edits are not overwritten.
 */
export async function insertAttachments(
  trx: Transaction,
  eventId: string,
  attachments: readonly NewAttachment[],
): Promise<void> {
  if (attachments.length === 0) return;
  const present = await trx.selectFrom('attachments').select('flavor').where('event_id', '=', eventId).execute();
  const flavors = new Set(present.map(({ flavor }) => flavor));
  const wanted = attachments.filter(({ flavor }) => !flavors.has(flavor));
  const droppedKeys = attachments.filter(({ flavor }) => flavors.has(flavor)).map(({ objectKey }) => objectKey);
  await releaseObjects(trx, droppedKeys);
  if (wanted.length === 0) return;
  const rows = wanted.map(({ objectKey, tags = [], ...file }) => {
    return { ...file, tags: [...tags], object_key: objectKey, event_id: eventId };
  });
  await trx.insertInto('attachments').values(rows).execute();
}

/** XML of a recording that is neither metadata nor an access control list, such as a cut list. */
export interface NewDocument {
  flavor: string;
  filename: string;
  content: string;
}

/** Adds documents to a locked event. A document whose flavor the event already has is dropped. */
export async function insertDocuments(
  trx: Transaction,
  eventId: string,
  documents: readonly NewDocument[],
): Promise<void> {
  if (documents.length === 0) return;
  await trx
    .insertInto('event_documents')
    .values(documents.map(({ flavor, filename, content }) => ({ event_id: eventId, flavor, filename, content })))
    .onConflict((same) => same.columns(['event_id', 'flavor']).doNothing())
    .execute();
}
