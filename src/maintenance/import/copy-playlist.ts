import { chosenIdentifier } from '#catalogue/events/event-columns.ts';
import { checkPlaylist, type PlaylistRequest } from '#catalogue/playlists/playlist.schemas.ts';
import { replacePlaylist } from '#catalogue/playlists/write-playlists.ts';
import { parseDateTime } from '#metadata/date-time.ts';
import { SourceError } from './catalogue-source.ts';
import type { ItemResult, KnownItem } from './import-items.queries.ts';
import { ACTOR, type ImportServices } from './import-services.ts';
import { copyRow } from './imported-rows.ts';
import type { SourcePlaylist } from './source.schemas.ts';

/** Copies a playlist, or brings the copy up to date. @throws {HttpError | SourceError} if it is not valid here */
export async function copyPlaylist(
  item: SourcePlaylist,
  digest: string,
  known: KnownItem,
  services: ImportServices,
): Promise<ItemResult> {
  const { identifier: id } = item;
  const { playlist, updated } = planPlaylist(item);
  return copyRow(
    {
      ...{ kind: 'playlist', id, digest, known },
      write: (trx) => replacePlaylist(trx, { id, playlist, updated, actor: ACTOR }),
    },
    services,
  );
}

/** Plans the copy of a playlist. @throws {HttpError | SourceError} if it is not valid here */
export function planPlaylist(item: SourcePlaylist): { playlist: PlaylistRequest; updated: Date | undefined } {
  const { identifier, updated: time } = item;
  if (!chosenIdentifier(new Map([['identifier', identifier]]))) throw new SourceError('It has no identifier.');
  const updated = parseDateTime(time);
  if (time !== '' && !updated) throw new SourceError(`Its \`updated\` is no date: ${time}.`);
  return { playlist: checkPlaylist(item), updated };
}
