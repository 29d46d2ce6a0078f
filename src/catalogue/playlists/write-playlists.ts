import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { type Action, lockWritable } from '#access/acl/acl.queries.ts';
import type { Principal } from '#access/principal.ts';
import { recordChanges } from '#changes/record-changes.ts';
import type { Transaction } from '#platform/database/kysely.ts';
import { refusal } from '#platform/http/errors/errors.ts';
import { INVALID_PLAYLIST, PLAYLIST_ID, type PlaylistRequest } from './playlist.schemas.ts';

export const PLAYLIST_MISSING = refusal(404, (id: string) => `Cannot find playlist instance with id '${id}'.`, [
  PLAYLIST_ID,
]);
export const PLAYLIST_GUARDED = refusal(403, 'This account may not change the playlist.');

type AclEntries = NonNullable<PlaylistRequest['accessControlEntries']>;

/** Creates a playlist. @returns its identifier @throws {HttpError} 400 for entries with identifiers */
export async function createPlaylist(
  trx: Transaction,
  playlist: PlaylistRequest,
  principal: Principal,
): Promise<string> {
  const id = randomUUID();
  await trx.insertInto('playlists').values({ id }).execute();
  await writePlaylist(trx, id, playlist);
  await recordChanges(trx, [{ kind: 'playlist.created', playlistId: id, actor: principal.username }]);
  return id;
}

/** Writes a playlist with the identifier and time that it has elsewhere. It replaces the playlist with this identifier. */
export async function replacePlaylist(
  trx: Transaction,
  { id, playlist, updated, actor }: { id: string; playlist: PlaylistRequest; updated: Date | undefined; actor: string },
): Promise<void> {
  const row = trx.insertInto('playlists').values({ id });
  const { numInsertedOrUpdatedRows } = await row.onConflict((same) => same.doNothing()).executeTakeFirst();
  await writePlaylist(trx, id, playlist, updated);
  const about = { playlistId: id, actor };
  const changed = { kind: 'playlist.changed', ...about, data: { parts: changedParts(playlist) } } as const;
  await recordChanges(trx, [numInsertedOrUpdatedRows === 1n ? { kind: 'playlist.created', ...about } : changed]);
}

/**
 * Changes a playlist. Missing properties keep their values.
 *
 * @throws {HttpError} 404 for a playlist the principal may not read, 403 for one it may only read, 400 for entries with
 *   identifiers that the playlist does not have
 */
export async function changePlaylist(
  trx: Transaction,
  { id, changes, principal }: { id: string; changes: PlaylistRequest; principal: Principal },
): Promise<void> {
  await lockPlaylist(trx, id, principal);
  await writePlaylist(trx, id, changes);
  const about = { playlistId: id, actor: principal.username };
  await recordChanges(trx, [{ kind: 'playlist.changed', ...about, data: { parts: changedParts(changes) } }]);
}

/**
 * Deletes a playlist.
 *
 * @throws {HttpError} 404 for a playlist the principal may not read, 403 for one it may only read
 */
export async function deletePlaylist(trx: Transaction, id: string, principal: Principal): Promise<void> {
  await lockPlaylist(trx, id, principal);
  await removeLockedPlaylist(trx, id, principal.username);
}

/** Deletes a locked playlist without asking for access. */
export async function removeLockedPlaylist(trx: Transaction, id: string, actor: string): Promise<void> {
  const { title, read_roles: readRoles } = await trx
    .deleteFrom('playlists')
    .where('id', '=', id)
    .returning(['title', 'read_roles'])
    .executeTakeFirstOrThrow();
  const about = { playlistId: id, actor, readRoles };
  await recordChanges(trx, [{ kind: 'playlist.deleted', ...about, data: { title } }]);
}

function lockPlaylist(trx: Transaction, id: string, principal: Principal): Promise<void> {
  return lockWritable(trx, 'playlists', principal, id, PLAYLIST_MISSING, PLAYLIST_GUARDED);
}

function changedParts({ title, description, creator, entries, accessControlEntries: acl }: PlaylistRequest): string[] {
  const metadata = [title, description, creator].some((value) => value !== undefined);
  return Object.entries({ metadata, entries, acl }).flatMap(([part, value]) => (value ? [part] : []));
}

/** @param updated the time of the change; now if undefined */
async function writePlaylist(
  trx: Transaction,
  id: string,
  playlist: PlaylistRequest,
  updated?: Date | undefined,
): Promise<void> {
  const { title, description, creator, entries, accessControlEntries: acl } = playlist;
  if (entries) await replaceParts(trx, 'playlist_entries', id, entries);
  if (acl) await replaceParts(trx, 'playlist_acl', id, acl);
  const roles = acl && { read_roles: rolesOf(acl, 'read'), write_roles: rolesOf(acl, 'write') };
  const textOf = (text: string | null | undefined) => (text === undefined ? undefined : (text ?? ''));
  await trx
    .updateTable('playlists')
    .set({ title: textOf(title), description: textOf(description), creator: textOf(creator), ...roles })
    .set({ updated: updated ?? sql<Date>`clock_timestamp()` })
    .where('id', '=', id)
    .execute();
}

function rolesOf(acl: AclEntries, action: Action): string[] {
  const roles = acl.filter((entry) => entry.allow && entry.action === action).map(({ role }) => role);
  return [...new Set(roles)].sort();
}

/** The columns of the entries of a playlist, by table. */
const PARTS = {
  playlist_entries: { list: 'entries', columns: { content_id: 'contentId' } },
  playlist_acl: { list: 'accessControlEntries', columns: { role: 'role', action: 'action', allow: 'allow' } },
} as const;

/** Replaces the entries of one table. Entries with an identifier keep it. @throws {HttpError} 400 for an unknown one */
async function replaceParts(
  trx: Transaction,
  name: keyof typeof PARTS,
  id: string,
  parts: readonly { id?: number | undefined }[],
): Promise<void> {
  const { list, columns } = PARTS[name];
  const removed = await trx.deleteFrom(name).where('playlist_id', '=', id).returning('id').execute();
  const known = new Set(removed.map((row) => Number(row.id)));
  const unknown = parts.findIndex((part) => part.id !== undefined && !known.delete(part.id));
  if (unknown >= 0) throw INVALID_PLAYLIST(`${list}[${unknown}].id`, 'id');
  const rows = parts.map((part, position) => {
    const sent = part as Record<string, unknown>;
    const values = Object.entries(columns).map(([column, property]) => [column, sent[property]]);
    return { id: part.id ?? null, playlist_id: id, position, ...Object.fromEntries(values) };
  });
  const written = ['playlist_id', 'position', ...Object.keys(columns)].map((column) => sql.ref(column));
  await sql`
    INSERT INTO ${sql.table(name)} (id, ${sql.join(written)})
    SELECT coalesce(id, nextval(pg_get_serial_sequence(${name}, 'id'))), ${sql.join(written)}
    FROM jsonb_populate_recordset(NULL::${sql.table(name)}, ${JSON.stringify(rows)}::jsonb)
    ORDER BY position`.execute(trx);
}
