import { sql } from 'kysely';
import { partTable, type Resource } from '#access/acl/acl.queries.ts';
import type { Queryable, Transaction } from '#platform/database/kysely.ts';
import type { CatalogValues, FieldValue } from './catalog.ts';

/** Returns the extended catalogs of events or series, by identifier and flavor. */
export async function storedCatalogs(
  db: Queryable,
  resource: Resource,
  ids: readonly string[],
): Promise<Map<string, Map<string, CatalogValues>>> {
  const catalogs = new Map<string, Map<string, CatalogValues>>(ids.map((id) => [id, new Map()]));
  if (ids.length === 0) return catalogs;
  const { table, owner } = partTable(resource, 'catalogs');
  const { rows } = await sql<{ owner: string; flavor: string; fields: Record<string, FieldValue> }>`
    SELECT ${owner} AS owner, flavor, fields FROM ${table}
    WHERE ${owner} = ANY(${ids}) ORDER BY ${owner}, flavor`.execute(db);
  for (const { owner: id, flavor, fields } of rows) {
    catalogs.get(id)?.set(flavor, new Map(Object.entries(fields)));
  }
  return catalogs;
}

/** Stores values of extended catalogs, by flavor. Missing fields keep their values. */
export async function saveCatalogs(
  trx: Transaction,
  resource: Resource,
  owners: string | readonly string[],
  catalogs: ReadonlyMap<string, CatalogValues>,
): Promise<void> {
  if (catalogs.size === 0) return;
  const { table, owner } = partTable(resource, 'catalogs');
  const fields = [...catalogs.values()].map((values) => JSON.stringify(Object.fromEntries(values)));
  await sql`
    INSERT INTO ${table} AS stored (${owner}, flavor, fields)
    SELECT id, flavor, fields FROM unnest(${[owners].flat()}::text[]) AS id,
      unnest(${[...catalogs.keys()]}::text[], ${fields}::jsonb[]) AS catalog (flavor, fields)
    ON CONFLICT (${owner}, flavor) DO UPDATE SET fields = stored.fields || excluded.fields`.execute(trx);
}

/** Deletes an extended catalog. @returns false if it did not exist */
export async function deleteCatalog(
  trx: Transaction,
  resource: Resource,
  owners: string | readonly string[],
  flavor: string,
): Promise<boolean> {
  const { table, owner } = partTable(resource, 'catalogs');
  const { numAffectedRows = 0n } = await sql`
    DELETE FROM ${table} WHERE ${owner} = ANY(${[owners].flat()}) AND flavor = ${flavor}`.execute(trx);
  return numAffectedRows > 0n;
}
