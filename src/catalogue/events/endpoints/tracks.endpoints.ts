import { requireAccess } from '#access/acl/acl.queries.ts';
import { apiRole } from '#access/roles/api-roles.ts';
import type { Database } from '#platform/database/kysely.ts';
import { isUuid } from '#platform/database/uuid.ts';
import { versionedJson } from '#platform/http/answer/version.ts';
import { defineEndpoint } from '#platform/http/endpoint/endpoint.ts';
import { pathParameter } from '#platform/http/endpoint/endpoint-schemas.ts';
import type { ObjectStorage } from '#platform/storage/object-storage.ts';
import { RANGE_NOT_SATISFIABLE, STORAGE_UNAVAILABLE, serveFile } from '#publications/serve-file.ts';
import { TRACK, TRACK_ID } from '../event-examples.ts';
import { EVENT_MISSING, TRACK_MISSING } from '../event-refusals.ts';
import { Tracks, trackJson } from '../track-json.ts';
import { eventParams } from './events.endpoints.ts';

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
