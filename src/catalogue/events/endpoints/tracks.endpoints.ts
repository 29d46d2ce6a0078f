import type { Selectable } from 'kysely';
import { z } from 'zod';
import { requireAccess } from '#access/acl/acl.queries.ts';
import { apiRole } from '#access/roles/api-roles.ts';
import type { Database } from '#platform/database/kysely.ts';
import type { Track } from '#platform/database/schema.ts';
import { isUuid } from '#platform/database/uuid.ts';
import { type ApiVersion, fieldsIn, versionedJson } from '#platform/http/answer/version.ts';
import { defineEndpoint } from '#platform/http/endpoint/endpoint.ts';
import { pathParameter } from '#platform/http/endpoint/endpoint-schemas.ts';
import type { AudioStream, MediaStream, VideoStream } from '#platform/media/streams.ts';
import type { ObjectStorage } from '#platform/storage/object-storage.ts';
import { RANGE_NOT_SATISFIABLE, STORAGE_UNAVAILABLE, serveFile } from '#publications/serve-file.ts';
import { TRACK, TRACK_ID } from '../event-examples.ts';
import { EVENT_MISSING, TRACK_MISSING } from '../event-refusals.ts';
import { TRACK_FIELDS } from '../event-versions.ts';
import { eventParams } from './events.endpoints.ts';

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

const Tracks = z.array(TrackSchema).meta({ id: 'Tracks' });

/** T with null for unknown properties. */
type Nullable<T> = { [K in keyof T]: undefined extends T[K] ? T[K] | null : T[K] };

/** Returns the JSON of a track (compatibility 3.10). What inspection has not found yet is omitted. */
function trackJson(track: Selectable<Track>, publicUrl: string, version: ApiVersion): Partial<TrackJson> {
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

export const listTracks = defineEndpoint({
  method: 'get',
  path: '/api/events/{event_id}/media',
  access: apiRole('EVENTS_MEDIA_VIEW'),
  summary: 'List the tracks of an event',
  description: 'The files that clients sent. Unknown properties of a track are omitted.',
  params: eventParams,
  answers: { 200: { description: 'The tracks.', body: Tracks, example: [TRACK] } },
  refusals: [EVENT_MISSING],
  handle: async ({ c, params }, { config, database }: { config: { publicUrl: string }; database: Database }) => {
    const { principal, version } = c.var;
    const id = params.event_id;
    await requireAccess(database, 'events', principal, id, 'read', EVENT_MISSING);
    const tracks = await database
      .selectFrom('tracks')
      .selectAll()
      .where('event_id', '=', id)
      .orderBy('position')
      .execute();
    const json = tracks.map((track) => trackJson(track, config.publicUrl, version));
    return versionedJson(c, json);
  },
});

export const downloadTrack = defineEndpoint({
  method: 'get',
  path: '/api/events/{event_id}/media/{track_id}',
  access: apiRole('EVENTS_MEDIA_VIEW'),
  summary: 'Download a track',
  description: 'The file as it was sent. With `Range`, a part of it.',
  params: { ...eventParams, track_id: pathParameter('Identifier of the track.', TRACK_ID) },
  answers: {
    200: { description: 'The file.', binary: true },
    206: { description: 'The requested part of the file.', binary: true },
    304: { description: 'The file still has this `ETag`.' },
  },
  refusals: [EVENT_MISSING, TRACK_MISSING, RANGE_NOT_SATISFIABLE, STORAGE_UNAVAILABLE],
  handle: async ({ c, params }, { database, storage }: { database: Database; storage: ObjectStorage }) => {
    const { event_id: id, track_id: trackId } = params;
    await requireAccess(database, 'events', c.var.principal, id, 'read', EVENT_MISSING);
    if (!isUuid(trackId)) throw TRACK_MISSING(trackId, id);
    const track = await database
      .selectFrom('tracks')
      .select(['object_key', 'filename', 'mediatype', 'size', 'sha256'])
      .where('id', '=', trackId)
      .where('event_id', '=', id)
      .executeTakeFirst();
    const served =
      track &&
      (await serveFile(c, storage, track, {
        'Content-Disposition': attachment(track.filename),
        'Cache-Control': 'private, no-cache',
        Vary: 'Authorization',
      }));
    if (!served) throw TRACK_MISSING(trackId, id);
    return served;
  },
});

/** Returns the header that saves a file under the name the client gave it. */
function attachment(filename: string): string {
  const encoded = encodeURIComponent(filename.toWellFormed()).replace(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `attachment; filename*=UTF-8''${encoded}`;
}
