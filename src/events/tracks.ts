import { type Insertable, sql } from 'kysely';
import type { Transaction } from '../database/kysely.ts';
import type { Track } from '../database/schema.ts';
import { CAPTIONS_TYPE } from '../media/signature.ts';

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

/** What captions hold; of anything else inspection finds out. */
const WITHOUT_MEDIA = { has_audio: false, has_video: false, streams: '[]' };

/**
 * Gives a locked event more tracks, after those it has.
 *
 * @param madeBy what made them, if no client has sent them
 */
export async function insertTracks(
  trx: Transaction,
  eventId: string,
  tracks: readonly NewTrack[],
  madeBy: string | null = null,
): Promise<void> {
  if (tracks.length === 0) return;
  const { next } = await trx
    .selectFrom('tracks')
    .select(sql<number>`coalesce(max(position) + 1, 0)`.as('next'))
    .where('event_id', '=', eventId)
    .executeTakeFirstOrThrow();
  await trx
    .insertInto('tracks')
    .values(tracks.map((track, i) => ({ ...trackRow(eventId, next + i, track), made_by: madeBy })))
    .execute();
}

function trackRow(eventId: string, position: number, track: NewTrack): Insertable<Track> {
  return {
    id: track.id,
    event_id: eventId,
    position,
    flavor: track.flavor,
    filename: track.filename,
    mediatype: track.mediatype,
    object_key: track.objectKey,
    size: track.size,
    sha256: track.sha256,
    tags: [...(track.tags ?? [])],
    ...(track.mediatype === CAPTIONS_TYPE && WITHOUT_MEDIA),
  };
}
