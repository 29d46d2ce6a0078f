import type { Selectable } from 'kysely';
import type { Track } from '#platform/database/schema.ts';
import { type ApiVersion, fieldsIn } from '#platform/http/answer/version.ts';
import type { AudioStream, MediaStream, VideoStream } from '#platform/media/streams.ts';
import { TRACK_FIELDS } from '../versions.ts';
import type { StreamJson, TrackJson } from './track.schemas.ts';

/** T where null stands for what is not known. */
type Nullable<T> = { [K in keyof T]: undefined extends T[K] ? T[K] | null : T[K] };

/**
 * A track as clients know it (compatibility 3.10). What is not known, because nobody has looked into the file yet, is
 * left out.
 */
export function trackJson(
  track: Selectable<Track>,
  { publicUrl, version }: { publicUrl: string; version: ApiVersion },
): Partial<TrackJson> {
  return known<Partial<TrackJson>>(
    fieldsIn(version, TRACK_FIELDS, {
      checksum: track.sha256 && `${track.sha256} (sha256)`,
      duration: track.duration,
      flavor: track.flavor,
      identifier: track.id,
      mimetype: track.mediatype,
      size: track.size,
      has_video: track.has_video,
      has_audio: track.has_audio,
      is_master_playlist: false,
      is_live: false,
      streams: streamsJson((track.streams ?? []) as unknown as MediaStream[]),
      tags: track.tags,
      uri: trackUrl(publicUrl, track),
      warnings: track.warnings.length > 0 ? track.warnings : null,
    } satisfies Nullable<TrackJson>),
  );
}

/** Where a track can be had by whoever may see the event's media. */
function trackUrl(publicUrl: string, track: { event_id: string; id: string }): string {
  return `${publicUrl}/api/events/${encodeURIComponent(track.event_id)}/media/${track.id}`;
}

function streamsJson(streams: readonly MediaStream[]): TrackJson['streams'] {
  const counts = { video: 0, audio: 0 };
  return Object.fromEntries(
    streams.map((stream) => {
      counts[stream.type] += 1;
      const identifier = `${stream.type}-${counts[stream.type]}`;
      return [
        identifier,
        known<StreamJson>({ identifier, ...(stream.type === 'video' ? video(stream) : audio(stream)) }),
      ];
    }),
  );
}

function video(stream: VideoStream) {
  return {
    bitrate: stream.bitRate,
    framecount: stream.frameCount,
    frameheight: stream.height,
    framewidth: stream.width,
    framerate: stream.frameRate,
    format: stream.codec,
    scantype: stream.interlaced ? 'Interlaced' : 'Progressive',
  } satisfies Nullable<Omit<StreamJson, 'identifier'>>;
}

function audio(stream: AudioStream) {
  return {
    channels: stream.channels,
    samplingrate: stream.samplingRate,
    bitrate: stream.bitRate,
    bitdepth: stream.bitDepth,
    framecount: stream.frameCount,
    format: stream.codec,
  } satisfies Nullable<Omit<StreamJson, 'identifier'>>;
}

function known<T extends object>(fields: Nullable<T>): T {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null && value !== undefined)) as T;
}
