import { requireAccess } from '#access/acl/acl.queries.ts';
import { apiRole } from '#access/roles/api-roles.ts';
import type { Database } from '#platform/database/kysely.ts';
import { isUuid } from '#platform/database/uuid.ts';
import { versionedJson } from '#platform/http/answer/version.ts';
import { defineEndpoint } from '#platform/http/endpoint/endpoint.ts';
import { pathParameter } from '#platform/http/endpoint/schemas.ts';
import type { ObjectStorage } from '#platform/storage/port.ts';
import { OUTSIDE_FILE, STORAGE_AWAY, serveFile } from '#publications/index.ts';
import { eventParams } from '../endpoints/events.endpoints.ts';
import { TRACK, TRACK_ID } from '../examples.ts';
import { EVENT_MISSING, TRACK_MISSING } from '../refusals.ts';
import { trackJson } from './json.ts';
import { Tracks } from './track.schemas.ts';

interface ListServices {
  /** Base of the URLs handed out, without a slash at its end. */
  config: { publicUrl: string };
  database: Database;
}

export const listTracks = defineEndpoint({
  method: 'get',
  path: '/api/events/{event_id}/media',
  access: apiRole('EVENTS_MEDIA_VIEW'),
  summary: 'List the tracks of an event',
  description: 'What has been sent in; what is not known of a track is missing.',
  params: eventParams,
  answers: { 200: { description: 'The tracks.', body: Tracks, example: [TRACK] } },
  refusals: [EVENT_MISSING],
  handle: async ({ c, params }, { config, database }: ListServices) => {
    const { principal, version } = c.var;
    const id = params.event_id;
    await requireAccess(database, 'events', principal, id, 'read', EVENT_MISSING);
    const tracks = await database
      .selectFrom('tracks')
      .selectAll()
      .where('event_id', '=', id)
      .orderBy('position')
      .execute();
    return versionedJson(
      c,
      tracks.map((track) => trackJson(track, { publicUrl: config.publicUrl, version })),
    );
  },
});

export const downloadTrack = defineEndpoint({
  method: 'get',
  path: '/api/events/{event_id}/media/{track_id}',
  access: apiRole('EVENTS_MEDIA_VIEW'),
  summary: 'Download a track',
  description: 'The file as it was sent, as a whole or (`Range`) in part.',
  params: { ...eventParams, track_id: pathParameter('Identifier of the track.', TRACK_ID) },
  answers: {
    200: { description: 'The file.', binary: true },
    206: { description: 'The part of it that was asked for.', binary: true },
    304: { description: 'It is the one with this `ETag`.' },
  },
  refusals: [EVENT_MISSING, TRACK_MISSING, OUTSIDE_FILE, STORAGE_AWAY],
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
/** For saving under the name that the client gave the file, whatever characters it has. */
function attachment(filename: string): string {
  const encoded = encodeURIComponent(filename.toWellFormed()).replace(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `attachment; filename*=UTF-8''${encoded}`;
}
