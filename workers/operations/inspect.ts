import { sql } from 'kysely';
import { countFrames, type MediaInfo, probe } from '../../src/media/probe.ts';
import { assertPlausible } from '../../src/media/workload.ts';
import type { Operation } from '../operation.ts';
import { type SourceTrack, sourceTracks } from './elements.ts';

/** Finds out what each track of the event consists of, and how long the event is. */
export const inspect: Operation = {
  name: 'inspect',
  lane: 'light',
  async run({ eventId, database, tools, signal, log, open, progress }) {
    const tracks = await sourceTracks(database, eventId);
    const found: { track: SourceTrack; info: MediaInfo }[] = [];
    for (const track of tracks) {
      const header = await probe(tools, await open(track.object_key), { signal });
      assertPlausible(header);
      const info = await countFrames(tools, header, { signal });
      const { warnings } = info.recording;
      const line = { track: track.id, flavor: track.flavor, duration: info.duration };
      log.info(line, 'track inspected');
      if (warnings.length > 0) log.warn({ ...line, warnings }, 'the track may be incomplete');
      found.push({ track, info });
      progress(found.length / tracks.length);
    }
    return async (trx) => {
      for (const { track, info } of found) {
        await trx
          .updateTable('tracks')
          .set({
            duration: info.duration,
            has_audio: info.hasAudio,
            has_video: info.hasVideo,
            streams: sql`${JSON.stringify(info.streams)}::jsonb`,
            warnings: info.recording.warnings,
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
