import type { Insertable } from 'kysely';
import type { Track } from '#platform/database/schema.ts';
import { CAPTIONS_TYPE } from '#platform/media/signature.ts';

/** A track whose object is stored and is not yet part of an event. */
export interface NewTrack {
  id: string;
  flavor: string;
  tags?: readonly string[];
  /** As the client called it; shown to people, never used as a path. */
  filename: string;
  mediatype: string;
  objectKey: string;
  /** In bytes. */
  size: number;
  /** Of its bytes, in hexadecimal; null where inspection is to find it out. */
  sha256: string | null;
}

const UNKNOWN_TYPE = 'application/octet-stream';
/** What their flavor promises counts where nobody knows the type. */
const RECORDINGS = ['presenter/source', 'presentation/source', 'presenter-audio/source'];
/** What captions hold; of anything else inspection finds out. */
const WITHOUT_MEDIA = { has_audio: false, has_video: false, streams: '[]' };

/** Whether a track is seen or heard, as the database decides it (`tracks.is_media`). */
export function isMedia({ flavor, mediatype }: Pick<NewTrack, 'flavor' | 'mediatype'>): boolean {
  if (flavor.startsWith('captions/')) return false;
  if (/^(audio|video)\//.test(mediatype) || mediatype === 'application/mxf') return true;
  return mediatype === UNKNOWN_TYPE && RECORDINGS.includes(flavor);
}

/** The row of a new track, but for its place. */
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
