import { metadataOfEvents } from '#catalogue/events/event-json.ts';
import { takesList } from '#metadata/catalog.ts';
import type { Catalogs } from '#metadata/catalogs.ts';
import type { CatalogJson, FieldJson } from '#metadata/metadata.schemas.ts';
import type { Queryable } from '#platform/database/kysely.ts';

/**
 * Returns the catalogs of an event for an editor: each suggested value by its label, which is a JSON text where the list
 * says more about it. A field for several values suggests its present ones, without which the editor would not show them.
 */
export async function editorMetadata(
  db: Queryable,
  event: Parameters<typeof metadataOfEvents>[1][number],
  { event: set, lists }: Pick<Catalogs, 'event' | 'lists'>,
): Promise<CatalogJson[]> {
  const catalogs = (await metadataOfEvents(db, [event], set, 'withmetadata')).get(event.id) ?? [];
  return catalogs.map((catalog) => {
    const described = set.find(catalog.flavor)?.fields ?? [];
    const collectionOf = ({ id, value }: FieldJson) => {
      const field = described.find((each) => each.id === id);
      const suggested = field?.listProvider === undefined ? [] : (lists.get(field.listProvider) ?? []);
      const present = Array.isArray(value) ? value.map((text) => [text, text] as const) : [];
      const entries = [...suggested.map(({ key, label, text }) => [text ?? label, key] as const), ...present];
      return entries.length > 0 || (field && takesList(field)) ? { collection: Object.fromEntries(entries) } : {};
    };
    return { ...catalog, fields: catalog.fields.map((field) => ({ ...field, ...collectionOf(field) })) };
  });
}
