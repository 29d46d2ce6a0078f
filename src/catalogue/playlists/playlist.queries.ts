import { type Expression, sql } from 'kysely';
import { jsonArrayFrom } from 'kysely/helpers/postgres';
import { mayAccess } from '#access/acl/acl.queries.ts';
import type { Principal } from '#access/principal.ts';
import { formatInstant } from '#metadata/date-time.ts';
import type { Queryable } from '#platform/database/kysely.ts';
import type { ListedResource } from '#platform/http/list/index.ts';
import type { PlaylistJson } from './playlist.schemas.ts';

/** A playlist as the API shows it. */
type PlaylistRow = NonNullable<Awaited<ReturnType<typeof findPlaylist>>>;

/** Returns the playlist if the principal may read it. */
export function findPlaylist(database: Queryable, id: string, principal: Principal) {
  return playlistRows(database)
    .where('playlists.id', '=', id)
    .where(mayAccess('playlists', principal, 'read'))
    .executeTakeFirst();
}

/** Selects playlists with their entries and access control lists, in order. */
export function playlistRows(database: Queryable) {
  return database
    .selectFrom('playlists')
    .select(['playlists.id', 'title', 'description', 'creator', 'updated'])
    .select((eb) => [
      jsonArrayFrom(
        eb
          .selectFrom('playlist_entries')
          .select(['playlist_entries.id', 'content_id as contentId', sql.lit('EVENT' as const).as('type')])
          .whereRef('playlist_id', '=', 'playlists.id')
          .orderBy('position'),
      ).as('entries'),
      jsonArrayFrom(
        eb
          .selectFrom('playlist_acl')
          .select(['playlist_acl.id', 'allow', 'role', 'action'])
          .whereRef('playlist_id', '=', 'playlists.id')
          .orderBy('position'),
      ).as('accessControlEntries'),
    ]);
}

/** Returns the JSON of a playlist (compatibility 6). */
export function playlistJson({ id, entries, title, description, creator, updated, ...rest }: PlaylistRow) {
  const { accessControlEntries } = rest;
  const shown = { id, entries, title, description, creator, updated: formatInstant(updated), accessControlEntries };
  return shown satisfies PlaylistJson;
}

const UPDATED = { name: 'updated', expression: sql.ref('playlists.updated'), kind: 'instant' } as const;

/** The list of playlists. Its orders have an index (sql/0041). */
export const PLAYLIST_LIST: ListedResource<PlaylistRow> = {
  table: 'playlists',
  shown: (database: Queryable, id: Expression<string>) =>
    playlistRows(database).where('playlists.id', '=', id).limit(1),
  sorts: {
    criteria: { updated: UPDATED },
    standard: { ...UPDATED, descending: false },
    identifier: { name: 'identifier', expression: sql.ref('playlists.id'), kind: 'text' },
  },
  filters: {},
};
