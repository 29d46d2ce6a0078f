import { type ApiVersion, atLeast } from '#platform/http/answer/version.ts';
import { ListUnavailable, type SourceChoice, SourceError, SourceUnusable } from './catalogue-source.ts';
import { listedItem, parseGroup, parsePlaylist } from './parse-source.ts';
import { isRefused } from './server-access.ts';
import type { SourceGroup, SourcePlaylist } from './source.schemas.ts';
import type { SourceConnection } from './source-connection.ts';
import { type PageRequest, walkByOffset } from './walk.ts';

const PAGE = 100;

/** Lists all playlists of a server. @throws {ListUnavailable} */
export async function* listPlaylists(
  connection: SourceConnection,
  version: ApiVersion,
  choice: SourceChoice,
): AsyncGenerator<SourcePlaylist> {
  if (!atLeast(version, '1.11.0'))
    throw new ListUnavailable(
      `Playlists do not come along: the source supports only version ${version} of the External API.`,
    );
  const list = { kind: 'Playlists', sort: 'updated:ASC', parse: parsePlaylist } as const;
  yield* readList(connection, list, choice);
}

/** Lists all groups of a server. @throws {ListUnavailable} */
export function listGroups(connection: SourceConnection, choice: SourceChoice): AsyncGenerator<SourceGroup> {
  return readList(connection, { kind: 'Groups', sort: 'name:ASC', parse: parseGroup }, choice);
}

/** Reads a list that not every server has and not every account may read. @throws {ListUnavailable | SourceUnusable} */
async function* readList<T>(
  connection: SourceConnection,
  { kind, sort, parse }: { kind: 'Playlists' | 'Groups'; sort: string; parse: (json: unknown) => T },
  { signal, onUnreadable }: SourceChoice,
): AsyncGenerator<T> {
  const page = async ({ offset }: PageRequest) => {
    const path = `/api/${kind.toLowerCase()}`;
    const query = new URLSearchParams({ sort, limit: String(PAGE), offset: String(offset) });
    try {
      const list = await connection.json(`${path}?${query}`, signal);
      if (!Array.isArray(list)) throw new SourceError(`${path} is not answered with a list.`);
      return list.map(listedItem);
    } catch (error) {
      if (!(error instanceof SourceError)) throw error;
      const reason = error.message.replace(/\.$/, '');
      // As a warning, nobody would notice that the rest of the list is missing.
      if (offset > 0) throw new SourceUnusable(`${kind} cannot be read completely: ${error.message}`);
      const role = `ROLE_API_${kind.toUpperCase()}_VIEW`;
      const advice = isRefused(error) ? ` Give the account at the source the role ${role}, or ROLE_ADMIN.` : '';
      throw new ListUnavailable(`${kind} do not come along (${reason}).${advice}`);
    }
  };
  for await (const { id, json } of walkByOffset({ page, limit: PAGE, onWarning: () => undefined })) {
    try {
      yield parse(json);
    } catch (error) {
      if (!(error instanceof SourceError)) throw error;
      onUnreadable?.(id, error.message);
    }
  }
}
