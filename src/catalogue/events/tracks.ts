import type { Insertable } from 'kysely';
import type { Track } from '#platform/database/schema.ts';
import { CAPTIONS_TYPE } from '#platform/media/signature.ts';

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
