import { sql } from 'kysely';
import type { Queryable, Transaction } from '../database/kysely.ts';
import { type CatalogValues, type FieldValue, isEmpty } from './catalog.ts';
import type { CatalogSet } from './catalogs.ts';

/** What has catalogs; also the name of its table. */
export type CatalogOwner = 'events' | 'series';

const STORED = {
  events: { table: 'event_catalogs', owner: 'event_id' },
  series: { table: 'series_catalogs', owner: 'series_id' },
} as const;

/** The extended catalogs of events or series, by identifier and flavor, in one query. */
export async function storedCatalogs(
  db: Queryable,
  resource: CatalogOwner,
  ids: readonly string[],
): Promise<Map<string, Map<string, CatalogValues>>> {
  const catalogs = new Map<string, Map<string, CatalogValues>>(ids.map((id) => [id, new Map()]));
  if (ids.length === 0) return catalogs;
  const { table, owner } = STORED[resource];
  const { rows } = await sql<{ owner: string; flavor: string; fields: Record<string, FieldValue> }>`
    SELECT ${sql.ref(owner)} AS owner, flavor, fields FROM ${sql.table(table)}
    WHERE ${sql.ref(owner)} = ANY(${ids}) ORDER BY ${sql.ref(owner)}, flavor`.execute(db);
  for (const { owner: id, flavor, fields } of rows) {
    catalogs.get(id)?.set(flavor, new Map(Object.entries(fields)));
  }
  return catalogs;
}

/**
 * Stores the given fields of an extended catalog of an event or a series, or of several; the others stay as they are.
 *
 * @param owners identifiers
 */
export async function saveCatalog(
  trx: Transaction,
  resource: CatalogOwner,
  owners: string | readonly string[],
  flavor: string,
  values: CatalogValues,
): Promise<void> {
  const { table, owner } = STORED[resource];
  await sql`
    INSERT INTO ${sql.table(table)} AS stored (${sql.ref(owner)}, flavor, fields)
    SELECT id, ${flavor}, ${JSON.stringify(Object.fromEntries(values))}::jsonb
    FROM unnest(${[owners].flat()}::text[]) AS id
    ON CONFLICT (${sql.ref(owner)}, flavor) DO UPDATE SET fields = stored.fields || excluded.fields`.execute(
    trx,
  );
}

/**
 * Leaves out the catalogs that are given as those never stored are shown: with nothing in them. Who writes all catalogs
 * back as they are shown must not be refused for a required field that is empty.
 */
export async function withoutUntouched(
  trx: Transaction,
  resource: CatalogOwner,
  id: string,
  values: ReadonlyMap<string, CatalogValues>,
  { common }: CatalogSet,
): Promise<Map<string, CatalogValues>> {
  const stored = (await storedCatalogs(trx, resource, [id])).get(id);
  return new Map(
    [...values].filter(
      ([flavor, given]) =>
        flavor === common.flavor || stored?.has(flavor) || ![...given.values()].every(isEmpty),
    ),
  );
}

/** Removes an extended catalog with all its values. @returns whether there was one */
export async function deleteCatalog(
  trx: Transaction,
  resource: CatalogOwner,
  id: string,
  flavor: string,
): Promise<boolean> {
  const { table, owner } = STORED[resource];
  const { numAffectedRows } = await sql`
    DELETE FROM ${sql.table(table)} WHERE ${sql.ref(owner)} = ${id} AND flavor = ${flavor}`.execute(trx);
  return numAffectedRows === 1n;
}
