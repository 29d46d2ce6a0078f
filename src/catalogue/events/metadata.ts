import type { Selectable } from 'kysely';
import type { CatalogValues } from '#metadata/catalog.ts';
import { storedCatalogs } from '#metadata/catalogs.queries.ts';
import type { CatalogSet } from '#metadata/catalogs.ts';
import { type CatalogOptions, catalogJson } from '#metadata/json.ts';
import type { CatalogJson } from '#metadata/schemas.ts';
import type { Queryable } from '#platform/database/kysely.ts';
import type { Event } from '#platform/database/schema.ts';
import { episodeValues } from './columns.ts';

type Row = Parameters<typeof episodeValues>[0] & Pick<Selectable<Event>, 'processing_state'>;

/** Whether clients are told that metadata cannot be changed now. */
export function isLocked({ processing_state }: Pick<Row, 'processing_state'>): boolean {
  return processing_state === 'RUNNING';
}

/** The metadata of events, by event and flavor, in one query at most. */
export async function valuesOfEvents(
  db: Queryable,
  events: readonly Row[],
  { common, extended }: CatalogSet,
): Promise<Map<string, Map<string, CatalogValues>>> {
  const ids = events.map(({ id }) => id);
  const stored = extended.length === 0 ? new Map() : await storedCatalogs(db, 'events', ids);
  return new Map(
    events.map((event) => [
      event.id,
      new Map([...(stored.get(event.id) ?? []), [common.flavor, episodeValues(event)]]),
    ]),
  );
}

/** All catalogs of events as JSON, by event: those of the configuration, the default one last. One query at most. */
export async function metadataOfEvents(
  db: Queryable,
  events: readonly Row[],
  catalogs: CatalogSet,
  form: CatalogOptions['form'],
): Promise<Map<string, CatalogJson[]>> {
  const values = await valuesOfEvents(db, events, catalogs);
  return new Map(
    events.map((event) => [
      event.id,
      catalogs.all.map((catalog) =>
        catalogJson(catalog, values.get(event.id)?.get(catalog.flavor) ?? new Map(), {
          locked: isLocked(event),
          form,
        }),
      ),
    ]),
  );
}
