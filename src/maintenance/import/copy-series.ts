import { replaceAcl } from '#access/acl/acl.queries.ts';
import { chosenIdentifier, saveSeriesCatalogs, seriesColumns } from '#catalogue/series/series-metadata.ts';
import { recordChanges } from '#changes/record-changes.ts';
import { deleteCatalog } from '#metadata/catalogs.queries.ts';
import { parseDateTime } from '#metadata/date-time.ts';
import type { Transaction } from '#platform/database/kysely.ts';
import { SourceError } from './catalogue-source.ts';
import { type ItemResult, type KnownItem, storable } from './import-items.queries.ts';
import { ACTOR, type ImportServices } from './import-services.ts';
import { copyRow } from './imported-rows.ts';
import { aclOf, MAX_TITLE } from './plan-event.ts';
import { planMetadata } from './plan-metadata.ts';
import type { SourceSeries } from './source.schemas.ts';

/**
 * Copies a series, or brings the copy up to date.
 *
 * @param digest the digest of the series at the source
 * @returns the outcome, already stored if the series was written
 * @throws {HttpError | SourceError} if it cannot be kept under its identifier or with its access control list
 */
export async function copySeries(
  series: SourceSeries,
  digest: string,
  known: KnownItem,
  services: ImportServices,
): Promise<ItemResult> {
  const { catalogs } = services;
  const { identifier: id } = series;
  const { common, notes, ...planned } = planMetadata(series.metadata, catalogs.series);
  const stored = series.inlet && Object.entries(series.inlet.catalogs);
  const extended = stored
    ? new Map(stored.map(([flavor, values]) => [flavor, new Map(Object.entries(values))]))
    : planned.extended;
  if (!chosenIdentifier(common.set('identifier', id))) throw new SourceError('It has no identifier.');
  common.set('title', common.get('title') ?? storable(series.title, MAX_TITLE));
  const acl = aclOf(series);
  const created = parseDateTime(series.inlet?.created ?? series.created);
  if (series.created !== '' && !created) throw new SourceError(`Its time of creation is no date: ${series.created}.`);
  const columns = {
    ...seriesColumns(common),
    creator: series.creator,
    ...(created && { created }),
    properties: JSON.stringify(series.properties),
  };
  const write = async (trx: Transaction, isNew: boolean) => {
    await trx
      .insertInto('series')
      .values({ ...columns, id })
      .onConflict((same) => same.column('id').doUpdateSet(columns))
      .execute();
    await replaceAcl(trx, 'series', id, acl);
    for (const flavor of await storedFlavors(trx, id)) {
      if (!extended.has(flavor)) await deleteCatalog(trx, 'series', id, flavor);
    }
    await saveSeriesCatalogs(trx, id, extended, catalogs.series);
    const about = { seriesId: id, actor: ACTOR };
    const parts = { data: { parts: ['metadata', 'acl', 'properties'] } };
    await recordChanges(trx, [
      isNew ? { kind: 'series.created', ...about } : { kind: 'series.changed', ...about, ...parts },
    ]);
  };
  return copyRow({ kind: 'series', id, digest, known, notes, write }, services);
}

async function storedFlavors(trx: Transaction, id: string): Promise<string[]> {
  const stored = await trx.selectFrom('series_catalogs').select('flavor').where('series_id', '=', id).execute();
  return stored.map(({ flavor }) => flavor);
}
