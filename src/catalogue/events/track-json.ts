import type { Selectable } from 'kysely';
import { z } from 'zod';
import type { Track } from '#platform/database/schema.ts';
import { type ApiVersion, fieldsIn } from '#platform/http/answer/version.ts';
import type { AudioStream, MediaStream, VideoStream } from '#platform/media/streams.ts';
import { TRACK_FIELDS } from './event-versions.ts';

const number = z.number().optional();
const integer = z.int().optional();

const StreamSchema = z
  .object({
    identifier: z.string(),
    format: z.string().optional().describe('The codec.'),
    bitrate: number.describe('In bits per second.'),
    framecount: integer,
    framerate: number,
    framewidth: integer,
    frameheight: integer,
    scantype: z.enum(['Interlaced', 'Progressive']).optional(),
    channels: integer,
    samplingrate: integer.describe('In Hertz.'),
    bitdepth: integer,
  })
  .meta({ id: 'TrackStream' });
type StreamJson = z.infer<typeof StreamSchema>;

/** A file that a client sent. Unknown properties are omitted. */
const TrackSchema = z
  .object({
    identifier: z.string(),
    flavor: z.string(),
    mimetype: z.string(),
    size: z.int().describe('In bytes.'),
    checksum: z.string().optional(),
    duration: integer.describe('In milliseconds.'),
    has_audio: z.boolean().optional(),
    has_video: z.boolean().optional(),
    is_master_playlist: z.boolean(),
    is_live: z.boolean(),
    tags: z.array(z.string()),
    uri: z.url().describe('URL of the file, for accounts that may read the event.'),
    warnings: z
      .array(z.string())
      .optional()
      .describe(
        'Specific to Inlet: possible faults of the file, as sentences; for example that it is truncated. A file with ' +
          'warnings is published nevertheless.',
      ),
    streams: z.record(z.string(), StreamSchema).describe('By `video-1`, `audio-1` and so on.'),
  })
  .meta({ id: 'Track', 'x-introduced': TRACK_FIELDS });
type TrackJson = z.infer<typeof TrackSchema>;

export const Tracks = z.array(TrackSchema).meta({ id: 'Tracks' });

/** T with null for unknown properties. */
type Nullable<T> = { [K in keyof T]: undefined extends T[K] ? T[K] | null : T[K] };

/** Returns the JSON of a track (compatibility 3.10). What inspection has not found yet is omitted. */
export function trackJson(track: Selectable<Track>, publicUrl: string, version: ApiVersion): Partial<TrackJson> {
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
      uri: `${publicUrl}/api/events/${encodeURIComponent(track.event_id)}/media/${track.id}`,
      warnings: track.warnings.length > 0 ? track.warnings : null,
    } satisfies Nullable<TrackJson>),
  );
}

function streamsJson(streams: readonly MediaStream[]): TrackJson['streams'] {
  const counts = { video: 0, audio: 0 };
  const named = streams.map((stream) => {
    counts[stream.type] += 1;
    const identifier = `${stream.type}-${counts[stream.type]}`;
    const fields = stream.type === 'video' ? videoFields(stream) : audioFields(stream);
    return [identifier, known<StreamJson>({ identifier, ...fields })];
  });
  return Object.fromEntries(named);
}

function videoFields(stream: VideoStream) {
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

function audioFields(stream: AudioStream) {
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
