import type { Context } from 'hono';
import { z } from 'zod';
import { accessCondition } from '#access/acl/acl.queries.ts';
import { type Idempotency, REPEATABLE } from '#access/idempotency/idempotency.ts';
import type { Principal } from '#access/principal.ts';
import { apiRole } from '#access/roles/api-roles.ts';
import type { Database, Queryable } from '#platform/database/kysely.ts';
import { inTransaction } from '#platform/database/retry.ts';
import { versionedJson } from '#platform/http/answer/version.ts';
import { defineEndpoint } from '#platform/http/endpoint/endpoint.ts';
import {
  createdHeaders,
  EXAMPLE_URL,
  jsonText,
  NO_WHOLE_NUMBER,
  pathParameter,
} from '#platform/http/endpoint/endpoint-schemas.ts';
import { listHeaders, PageQuery, respondWithList, sortParameter, UNKNOWN_SORT } from '#platform/http/list/index.ts';
import { findPlaylist, PLAYLIST_LIST, playlistJson, playlistRows } from './playlist.queries.ts';
import {
  INVALID_PLAYLIST,
  NEW_PLAYLIST,
  PLAYLIST,
  PLAYLIST_ID,
  Playlist,
  PlaylistEntriesRequest,
  PlaylistRequest,
  parseEntries,
  parsePlaylist,
} from './playlist.schemas.ts';
import {
  changePlaylist,
  createPlaylist,
  deletePlaylist,
  PLAYLIST_GUARDED,
  PLAYLIST_MISSING,
} from './write-playlists.ts';

interface Services {
  config: { publicUrl: string };
  database: Database;
  idempotency: Idempotency;
}

const since = '1.11.0';
const params = { playlist_id: pathParameter('Identifier of the playlist.', PLAYLIST_ID) };
const form = {
  schema: z.object({ playlist: jsonText(PlaylistRequest, 'The playlist.') }),
  example: { playlist: JSON.stringify(NEW_PLAYLIST) },
};

export const listPlaylists = defineEndpoint({
  method: 'get',
  path: '/api/playlists',
  since,
  access: apiRole('PLAYLISTS_VIEW'),
  summary: 'List playlists',
  description: 'Returns the playlists that the account may read. Without `limit`, all of them.',
  query: z.object({ sort: sortParameter(PLAYLIST_LIST, 'updated:DESC'), ...PageQuery.shape }),
  answers: {
    200: {
      description: 'A page of playlists.',
      body: z.array(Playlist),
      example: [PLAYLIST],
      headers: listHeaders('/api/playlists'),
    },
  },
  refusals: [UNKNOWN_SORT, NO_WHOLE_NUMBER],
  handle: ({ c, query }, { config, database }: Services) =>
    respondWithList(c, PLAYLIST_LIST, {
      database,
      url: `${config.publicUrl}/api/playlists`,
      access: accessCondition('playlists', c.var.principal, 'read'),
      sort: query().sort,
      json: async (playlists) => playlists.map(playlistJson),
    }),
});

export const newPlaylist = defineEndpoint({
  method: 'post',
  path: '/api/playlists',
  since,
  access: apiRole('PLAYLISTS_CREATE', 'PLAYLISTS_EDIT'),
  summary: 'Create a playlist',
  description: 'The access control list alone decides who may read and change it. Its events need not exist.',
  repeatable: REPEATABLE,
  form,
  answers: {
    201: {
      description: 'The playlist was created.',
      body: Playlist,
      example: PLAYLIST,
      headers: createdHeaders(`${EXAMPLE_URL}/api/playlists/${PLAYLIST_ID}`),
    },
  },
  refusals: [INVALID_PLAYLIST],
  handle: async ({ c, form, fields }, { config, database, idempotency }: Services) => {
    const { playlist: sent } = await form();
    return idempotency.answer(c, { fields: await fields() }, async (remember) => {
      const playlist = parsePlaylist(sent);
      return inTransaction(database, async (trx) => {
        const id = await createPlaylist(trx, playlist, c.var.principal);
        const Location = `${config.publicUrl}/api/playlists/${id}`;
        const answer = versionedJson(c, await readById(trx, id), 201, { Location });
        await remember(trx, answer);
        return answer;
      });
    });
  },
});

export const readPlaylist = defineEndpoint({
  method: 'get',
  path: '/api/playlists/{playlist_id}',
  since,
  access: apiRole('PLAYLISTS_VIEW'),
  summary: 'Read a playlist',
  description: 'Entries remain when their events are deleted or not readable.',
  params,
  answers: { 200: { description: 'The playlist.', body: Playlist, example: PLAYLIST } },
  refusals: [PLAYLIST_MISSING],
  handle: async ({ c, params }, { database }: Services) =>
    versionedJson(c, await readFor(database, params.playlist_id, c.var.principal)),
});

export const putPlaylist = defineEndpoint({
  method: 'put',
  path: '/api/playlists/{playlist_id}',
  since,
  access: apiRole('PLAYLISTS_CREATE', 'PLAYLISTS_EDIT'),
  summary: 'Change a playlist',
  description: 'Missing properties keep their values. Entries sent with their identifiers keep them.',
  params,
  form,
  answers: { 200: { description: 'The changed playlist.', body: Playlist, example: PLAYLIST } },
  refusals: [INVALID_PLAYLIST, PLAYLIST_GUARDED, PLAYLIST_MISSING],
  handle: async ({ c, params, form }, services: Services) =>
    changed(c, services, params.playlist_id, parsePlaylist((await form()).playlist)),
});

export const putEntries = defineEndpoint({
  method: 'post',
  path: '/api/playlists/{playlist_id}/entries',
  since,
  access: apiRole('PLAYLISTS_CREATE', 'PLAYLISTS_EDIT'),
  summary: 'Replace the entries of a playlist',
  description: 'Entries sent with their identifiers keep them. An empty list removes all.',
  params,
  form: {
    schema: z.object({ playlistEntries: jsonText(PlaylistEntriesRequest, 'The new entries.') }),
    example: { playlistEntries: JSON.stringify(NEW_PLAYLIST.entries) },
  },
  answers: { 200: { description: 'The changed playlist.', body: Playlist, example: PLAYLIST } },
  refusals: [INVALID_PLAYLIST, PLAYLIST_GUARDED, PLAYLIST_MISSING],
  handle: async ({ c, params, form }, services: Services) =>
    changed(c, services, params.playlist_id, parseEntries((await form()).playlistEntries)),
});

export const removePlaylist = defineEndpoint({
  method: 'delete',
  path: '/api/playlists/{playlist_id}',
  since,
  access: apiRole('PLAYLISTS_DELETE'),
  summary: 'Delete a playlist',
  description: 'Its events are kept.',
  params,
  answers: { 200: { description: 'The deleted playlist.', body: Playlist, example: PLAYLIST } },
  refusals: [PLAYLIST_GUARDED, PLAYLIST_MISSING],
  handle: async ({ c, params }, { database }: Services) => {
    const { principal } = c.var;
    const { playlist_id: id } = params;
    return inTransaction(database, async (trx) => {
      const playlist = await readFor(trx, id, principal);
      await deletePlaylist(trx, id, principal);
      return versionedJson(c, playlist);
    });
  },
});

/** Changes a playlist and responds with it. */
function changed(c: Context, { database }: Services, id: string, changes: PlaylistRequest): Promise<Response> {
  return inTransaction(database, async (trx) => {
    await changePlaylist(trx, { id, changes, principal: c.var.principal });
    return versionedJson(c, await readById(trx, id));
  });
}

async function readFor(database: Queryable, id: string, principal: Principal) {
  const playlist = await findPlaylist(database, id, principal);
  if (!playlist) throw PLAYLIST_MISSING(id);
  return playlistJson(playlist);
}

/** Reads a playlist that the principal has just written; its new list may not let the principal read it. */
async function readById(database: Queryable, id: string) {
  return playlistJson(await playlistRows(database).where('playlists.id', '=', id).executeTakeFirstOrThrow());
}
