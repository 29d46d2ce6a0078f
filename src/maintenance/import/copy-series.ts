import { sql } from 'kysely';
import { replaceAcl } from '#access/acl/acl.queries.ts';
import { chosenIdentifier, saveSeriesCatalogs, seriesColumns } from '#catalogue/series/series-metadata.ts';
import { recordChanges } from '#changes/record-changes.ts';
import { deleteCatalog } from '#metadata/catalogs.queries.ts';
import { parseDateTime } from '#metadata/date-time.ts';
import type { Queryable, Transaction } from '#platform/database/kysely.ts';
import { inTransaction } from '#platform/database/retry.ts';
import { SourceError } from './catalogue-source.ts';
import { type ItemResult, type KnownItem, saveResult, storable } from './import-items.queries.ts';
import { ACTOR, type ImportServices, skipReason } from './import-services.ts';
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
  { database, sourceId, catalogs, theirs }: ImportServices,
): Promise<ItemResult> {
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
  return inTransaction(database, async (trx) => {
    const locked = await trx.selectFrom('series').select('id').where('id', '=', id).forUpdate().executeTakeFirst();
    const refusal = theirs ? undefined : skipReason('series', await seriesVersion(trx, id), known);
    if (refusal !== undefined) return { state: 'skipped', reason: refusal };
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
      locked ? { kind: 'series.changed', ...about, ...parts } : { kind: 'series.created', ...about },
    ]);
    const version = (await seriesVersion(trx, id)) ?? '';
    const result: ItemResult = { state: 'copied', copied: digest, version, notes };
    await saveResult(trx, { sourceId, kind: 'series', id }, result);
    return result;
  });
}

async function storedFlavors(trx: Transaction, id: string): Promise<string[]> {
  const stored = await trx.selectFrom('series_catalogs').select('flavor').where('series_id', '=', id).execute();
  return stored.map(({ flavor }) => flavor);
}

/** Returns a digest of a series here; undefined if it does not exist. */
export async function seriesVersion(db: Queryable, id: string): Promise<string | undefined> {
  const { rows } = await sql<{ version: string }>`
    SELECT md5(concat(series::text, (SELECT string_agg(a::text, '' ORDER BY position) FROM series_acl a WHERE series_id = ${id}),
      (SELECT string_agg(c::text, '' ORDER BY flavor) FROM series_catalogs c WHERE series_id = ${id}))) AS version
    FROM series WHERE id = ${id}`.execute(db);
  return rows[0]?.version;
}
