import { sql } from 'kysely';
import { inspectionOf, type MediaInfo } from '#platform/media/probe.ts';
import { measureFile } from '#platform/storage/put-measured.ts';
import type { Operation } from './operation.ts';
import { type SourceTrack, sourceTracks } from './prepared-elements.ts';
import { countedContentOf } from './track-content.ts';

/** Inspects the streams of each track and the duration of the event. */
export const inspect: Operation = {
  name: 'inspect',
  lane: 'light',
  async run(context) {
    const { eventId, database, signal, log, open, locate, progress } = context;
    const tracks = await sourceTracks(database, eventId);
    const found: { track: SourceTrack; info: MediaInfo; sha256: string }[] = [];
    for (const track of tracks) {
      // A checksum takes the whole file.
      const path = await (track.sha256 ? locate : open)(track.object_key);
      const info = await countedContentOf(context, { ...track, inspection: null }, path);
      const { warnings } = info.recording;
      const line = { track: track.id, flavor: track.flavor, duration: info.duration };
      log.info(line, 'track inspected');
      if (warnings.length > 0) log.warn({ ...line, warnings }, 'the track may be incomplete');
      // Tracks uploaded in several requests have no checksum yet.
      found.push({ track, info, sha256: track.sha256 ?? (await measureFile(path, signal)).sha256 });
      progress(found.length / tracks.length);
    }
    return async (trx) => {
      for (const { track, info, sha256 } of found) {
        await trx
          .updateTable('tracks')
          .set({
            sha256,
            duration: info.duration,
            has_audio: info.hasAudio,
            has_video: info.hasVideo,
            streams: sql`${JSON.stringify(info.streams)}::jsonb`,
            inspection: sql`${JSON.stringify(inspectionOf(info))}::jsonb`,
            warnings: info.recording.warnings,
            // A new workflow starts without a cut.
            kept_parts: null,
          })
          .where('id', '=', track.id)
          .execute();
      }
      if (found.length === 0) return;
      const duration = Math.max(...found.map(({ info }) => info.duration));
      await trx.updateTable('events').set({ duration }).where('id', '=', eventId).execute();
    };
  },
};
