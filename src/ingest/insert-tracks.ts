import { type Insertable, sql } from 'kysely';
import type { Transaction } from '../database/kysely.ts';
import type { Track } from '../database/schema.ts';
import type { ReceivedFile } from './receive-files.ts';

/** A track that is stored, with what is known of it from the first. */
export interface NewTrack
  extends Omit<ReceivedFile, 'field'>,
    Pick<Insertable<Track>, 'tags' | 'has_audio' | 'has_video' | 'streams'> {
  id: string;
  flavor: string;
}

/** Gives a locked event more tracks, after those it has. */
export async function insertTracks(
  trx: Transaction,
  eventId: string,
  tracks: readonly NewTrack[],
): Promise<void> {
  if (tracks.length === 0) return;
  const { next } = await trx
    .selectFrom('tracks')
    .select(sql<number>`coalesce(max(position) + 1, 0)`.as('next'))
    .where('event_id', '=', eventId)
    .executeTakeFirstOrThrow();
  await trx
    .insertInto('tracks')
    .values(
      tracks.map((track, i) => ({
        id: track.id,
        event_id: eventId,
        position: next + i,
        flavor: track.flavor,
        filename: track.filename,
        mediatype: track.mediatype,
        object_key: track.objectKey,
        size: track.size,
        sha256: track.sha256,
        tags: track.tags,
        has_audio: track.has_audio,
        has_video: track.has_video,
        streams: track.streams,
      })),
    )
    .execute();
}
