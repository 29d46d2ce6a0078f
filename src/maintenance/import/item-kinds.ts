import { deleteGroup } from '#access/user-groups/groups.queries.ts';
import { removeEvent } from '#catalogue/events/delete-event.ts';
import { removeLockedPlaylist } from '#catalogue/playlists/write-playlists.ts';
import { removeSeries } from '#catalogue/series/series-queries.ts';
import type { Queryable, Transaction } from '#platform/database/kysely.ts';
import { type CatalogueSource, isPartial, type SourceChoice } from './catalogue-source.ts';
import { copyEvent } from './copy-event.ts';
import { copyGroup } from './copy-group.ts';
import { copyPlaylist } from './copy-playlist.ts';
import { copySeries } from './copy-series.ts';
import type { ItemKind, ItemResult, KnownItem } from './import-items.queries.ts';
import { ACTOR, type ImportServices } from './import-services.ts';
import { type RowKind, removeRow, rowVersion } from './imported-rows.ts';
import type { SourceEvent, SourceGroup, SourcePlaylist, SourceSeries } from './source.schemas.ts';
import { eventVersion } from './write-imported-event.ts';

export type Item = SourceSeries | SourceEvent | SourcePlaylist | SourceGroup;

/** The handling of one kind of items. Each handler gets only items of its kind. */
export interface KindHandler {
  list(source: CatalogueSource, choice: SourceChoice): AsyncIterable<Item>;
  find(source: CatalogueSource, id: string): Promise<Item | undefined>;
  /** Copies an item, or brings the copy up to date. @returns the outcome, already stored if the item was written */
  copy(item: Item, digest: string, known: KnownItem, services: ImportServices): Promise<ItemResult>;
  /** Returns the version of an item here; undefined if it does not exist. */
  version(db: Queryable, id: string): Promise<string | undefined>;
  /** Deletes an item here. @param require throws for an item that must stay */
  remove(id: string, require: (trx: Transaction) => Promise<void>, services: ImportServices): Promise<void>;
}

/** Returns what items without files have in common. @param remove deletes a locked row */
function rowsOf(kind: RowKind, remove: (trx: Transaction, id: string) => Promise<void>) {
  return {
    version: (db, id) => rowVersion(db, kind, id),
    remove: (id, require, services) => removeRow({ kind, id, require }, (trx) => remove(trx, id), services),
  } satisfies Partial<KindHandler>;
}

/** The handling of each kind. */
export const HANDLERS: Readonly<Record<ItemKind, KindHandler>> = {
  series: {
    list: (source, choice) => source.series(choice),
    find: (source, id) => source.findSeries(id),
    copy: copySeries,
    ...rowsOf('series', (trx, id) => removeSeries(trx, id, ACTOR)),
  },
  event: {
    list: (source, choice) => source.events(choice),
    find: (source, id) => source.findEvent(id),
    copy: copyEvent,
    version: eventVersion,
    remove: (id, require, { database, staging }) => removeEvent({ id, actor: ACTOR, require }, { database, staging }),
  },
  playlist: {
    list: (source, choice) => source.playlists(choice),
    find: (source, id) => source.findPlaylist(id),
    copy: copyPlaylist,
    ...rowsOf('playlist', (trx, id) => removeLockedPlaylist(trx, id, ACTOR)),
  },
  group: {
    list: (source, choice) => source.groups(choice),
    find: (source, id) => source.findGroup(id),
    copy: copyGroup,
    ...rowsOf('group', deleteGroup),
  },
};

/** Returns the kinds of a run in order. Playlists and groups belong to whole catalogues only. */
export function kindsOf(choice: Pick<SourceChoice, 'seriesId' | 'since'> & { groups: boolean }): ItemKind[] {
  if (isPartial(choice)) return ['series', 'event'];
  return ['series', 'event', 'playlist', ...(choice.groups ? ['group' as const] : [])];
}
