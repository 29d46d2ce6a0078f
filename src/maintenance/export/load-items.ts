import { sql } from 'kysely';
import type pg from 'pg';
import { aclsOf, effectiveAclsOf } from '#access/acl/acl.queries.ts';
import { groupJson } from '#access/user-groups/group-json.ts';
import { shownGroup } from '#access/user-groups/groups.queries.ts';
import { eventJson, findEvents, loadExtras } from '#catalogue/events/event-json.ts';
import { trackJson } from '#catalogue/events/track-json.ts';
import { playlistJson, playlistRows } from '#catalogue/playlists/playlist.queries.ts';
import { catalogsOf } from '#catalogue/series/series-metadata.ts';
import { seriesJson, shownSeries } from '#catalogue/series/series-queries.ts';
import { catalogJson } from '#metadata/catalog-json.ts';
import { storedCatalogs } from '#metadata/catalogs.queries.ts';
import type { Catalogs } from '#metadata/catalogs.ts';
import type { Database, Transaction } from '#platform/database/kysely.ts';
import { NEWEST_VERSION } from '#platform/http/answer/version.ts';
import { fileName, type ItemKind } from '../import/folder-format.ts';
import type { SeriesExtras } from '../import/inlet-extras.schemas.ts';
import { eventExtras, type FileRow, loadEventParts, storedFields } from './event-parts.ts';
import { listedIds } from './item-list.ts';

/** A file of an exported item. */
export interface ItemFile {
  name: string;
  key: string;
  size: number;
  /** In hexadecimal; null before inspection. */
  sha256: string | null;
}

/** An item as it is exported. */
export interface Item {
  kind: ItemKind;
  id: string;
  /** Its JSON. */
  text: string;
  files: ItemFile[];
}

export interface ItemServices {
  catalogs: Pick<Catalogs, 'event' | 'series'>;
  publicUrl: string;
}

/** Loads items as of one moment. Those that no longer exist are missing from the result. */
export function loadItems(
  database: Database,
  kind: ItemKind,
  ids: readonly string[],
  services: ItemServices,
): Promise<Item[]> {
  return database
    .transaction()
    .setIsolationLevel('repeatable read')
    .setAccessMode('read only')
    .execute((trx) => LOADERS[kind](trx, ids, services));
}

/** Loads all listed items of a kind in order, in batches (`listItems`). */
export async function* loadListed(
  kind: ItemKind,
  { client, database, ...services }: ItemServices & { client: pg.Client; database: Database },
): AsyncGenerator<Item[]> {
  for await (const ids of listedIds(client, kind)) {
    const found = new Map((await loadItems(database, kind, ids, services)).map((item) => [item.id, item]));
    yield ids.flatMap((id) => found.get(id) ?? []);
  }
}

const LOADERS: Record<ItemKind, (trx: Transaction, ids: readonly string[], services: ItemServices) => Promise<Item[]>> =
  { events: loadEvents, series: loadSeries, playlists: loadPlaylists, groups: loadGroups };

function item(kind: ItemKind, id: string, json: object, rows: readonly FileRow[] = []): Item {
  const files = rows.map((row) => ({ name: fileName(row), key: row.object_key, size: row.size, sha256: row.sha256 }));
  return { kind, id, text: `${JSON.stringify(json, undefined, 2)}\n`, files };
}

const EVERYTHING = {
  ...{ withacl: true, withmetadata: true, withpublications: true, withscheduling: true },
  ...{ includeInternalPublication: true, sign: false },
};

async function loadEvents(
  trx: Transaction,
  ids: readonly string[],
  { catalogs, publicUrl }: ItemServices,
): Promise<Item[]> {
  const version = NEWEST_VERSION;
  const events = await findEvents(trx, ids);
  const addresses = { version, catalogs: catalogs.event, publicUrl, access: 'link' } as const;
  const extras = await loadExtras(trx, events, EVERYTHING, addresses);
  const acls = await effectiveAclsOf(trx, events);
  const partsOf = await loadEventParts(trx, ids);
  return events.map((event) => {
    const parts = partsOf(event.id);
    const names = new Map(parts.elements.map((element) => [element.id, fileName(element)]));
    const inFolder = <Entry extends { id: string; url: string }>(entry: Entry) => ({
      ...entry,
      url: names.get(entry.id) ?? entry.url,
    });
    const { publications = [], ...shown } = eventJson(event, version, extras(event.id));
    const json = {
      ...shown,
      publications: publications.map((publication) => ({
        ...publication,
        media: publication.media.map((media) => inFolder(media as { id: string; url: string })),
        attachments: publication.attachments.map(inFolder),
        metadata: publication.metadata.map(inFolder),
      })),
      tracks: parts.tracks.map((track) => ({ ...trackJson(track, publicUrl, version), uri: fileName(track) })),
      inlet: eventExtras(event, acls.get(event.id)?.own ?? false, parts),
    };
    return item('events', event.id, json, [...parts.tracks, ...parts.attachments, ...parts.elements]);
  });
}

async function loadSeries(trx: Transaction, ids: readonly string[], { catalogs }: ItemServices): Promise<Item[]> {
  const acls = await aclsOf(trx, 'series', ids);
  const stored = await storedCatalogs(trx, 'series', ids);
  const items: Item[] = [];
  for (const id of ids) {
    const series = await shownSeries(trx, sql.val(id)).select('properties').executeTakeFirst();
    if (!series) continue;
    const filled = await catalogsOf(trx, series, catalogs.series);
    const inlet: SeriesExtras = { created: series.created.toISOString(), catalogs: storedFields(stored.get(id)) };
    const json = {
      ...seriesJson(series, NEWEST_VERSION, { acl: acls.get(id) ?? [] }),
      metadata: filled.map(([catalog, values]) => catalogJson(catalog, values)),
      properties: series.properties,
      inlet,
    };
    items.push(item('series', id, json));
  }
  return items;
}

async function loadPlaylists(trx: Transaction, ids: readonly string[]): Promise<Item[]> {
  const rows = await playlistRows(trx)
    .where('playlists.id', '=', sql<string>`ANY(${[...ids]})`)
    .execute();
  return rows.map((playlist) => item('playlists', playlist.id, playlistJson(playlist)));
}

async function loadGroups(trx: Transaction, ids: readonly string[]): Promise<Item[]> {
  const items: Item[] = [];
  for (const id of ids) {
    const group = await shownGroup(trx, sql.val(id)).executeTakeFirst();
    if (group) items.push(item('groups', id, groupJson(group)));
  }
  return items;
}
