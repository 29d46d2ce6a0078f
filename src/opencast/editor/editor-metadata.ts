import { sql } from 'kysely';
import { mayAccess } from '#access/acl/acl.queries.ts';
import type { Principal } from '#access/principal.ts';
import { type EventRow, metadataOfEvents } from '#catalogue/events/event-json.ts';
import { type MetadataField, takesList } from '#metadata/catalog.ts';
import type { Catalogs } from '#metadata/catalogs.ts';
import type { ListEntry } from '#metadata/list-providers.ts';
import type { CatalogJson, FieldJson } from '#metadata/metadata.schemas.ts';
import type { Queryable } from '#platform/database/kysely.ts';

const MOST_SERIES = 1000;

/**
 * Returns the catalogs of an event for an editor: each suggested value by its label, which is a JSON text where the list
 * says more about it. A field for several values suggests its present ones, without which the editor would not show them.
 * A field with two identifiers has the second one, by which the editor finds its label and its settings.
 */
export async function editorMetadata(
  db: Queryable,
  event: EventRow,
  { catalogs: { event: set, lists }, principal }: { catalogs: Pick<Catalogs, 'event' | 'lists'>; principal: Principal },
): Promise<CatalogJson[]> {
  const catalogs = (await metadataOfEvents(db, [event], set, 'withmetadata')).get(event.id) ?? [];
  const series = await seriesByTitle(db, event, principal);
  return catalogs.map((catalog) => {
    const described = set.find(catalog.flavor)?.fields ?? [];
    const collectionOf = ({ id, value }: FieldJson, field: MetadataField | undefined) => {
      if (id === 'isPartOf' && catalog.flavor === set.common.flavor) return { collection: series };
      const present = Array.isArray(value) ? value.map((text) => [text, text] as const) : [];
      const entries = [...(field ? suggestionsOf(field, lists) : []), ...present];
      return entries.length > 0 || (field && takesList(field)) ? { collection: Object.fromEntries(entries) } : {};
    };
    const fields = catalog.fields.map((json) => {
      const field = described.find(({ id }) => id === json.id);
      return { ...json, id: field?.singular ?? json.id, ...collectionOf(json, field) };
    });
    return { ...catalog, fields };
  });
}

/** Returns the suggested values of a field by their labels. */
function suggestionsOf({ id, listProvider, collection = {} }: MetadataField, lists: Catalogs['lists']) {
  const own = Object.entries(collection).map(([key, label]): ListEntry => ({ key, label }));
  const entries = (listProvider === undefined ? undefined : lists.get(listProvider)) ?? own;
  // The editor parses the labels of licenses, and breaks off when one is no JSON.
  const labelOf = (label: string) => (id === 'license' ? JSON.stringify({ label }) : label);
  return entries.map(({ key, label, text }) => [text ?? labelOf(label), key] as const);
}

/** Returns the series of an event, and those that the account may write. Those of one title differ by their identifiers. */
async function seriesByTitle(db: Queryable, event: EventRow, principal: Principal): Promise<Record<string, string>> {
  const writable = await db
    .selectFrom('series')
    .select(['id', 'title'])
    .where(mayAccess('series', principal, 'write'))
    .orderBy(sql`title COLLATE "und-x-icu"`)
    .orderBy('id')
    .limit(MOST_SERIES)
    .execute();
  const present = event.series_id === null ? [] : [{ id: event.series_id, title: event.series_title }];
  const byTitle = new Map<string, string>();
  for (const { id, title } of [...present, ...writable]) {
    const holder = byTitle.get(title) ?? id;
    byTitle.set(holder === id ? title : `${title} (${id})`, id);
  }
  return Object.fromEntries(byTitle);
}
