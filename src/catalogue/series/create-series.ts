import { randomUUID } from 'node:crypto';
import { UNAUTHORIZED } from '#access/access-errors.ts';
import { mayAccess, replaceAcl } from '#access/acl/acl.queries.ts';
import { type AclEntry, parseStrictAcl } from '#access/acl/acl.ts';
import type { Principal } from '#access/principal.ts';
import { recordChanges } from '#changes/record-changes.ts';
import type { CatalogValues } from '#metadata/catalog.ts';
import type { CatalogSet } from '#metadata/catalogs.ts';
import { parseCatalogs, requireValues } from '#metadata/parse-metadata.ts';
import type { Transaction } from '#platform/database/kysely.ts';
import { parseInput } from '#platform/http/endpoint/endpoint-schemas.ts';
import { Theme } from './series.schemas.ts';
import { chosenIdentifier, saveSeriesCatalogs, seriesColumns } from './series-metadata.ts';
import { IDENTIFIER_TAKEN, METADATA_MISSING } from './series-refusals.ts';

/** A series that a client wants to create. */
export interface NewSeries {
  /** By flavor. */
  metadata: Map<string, CatalogValues>;
  /** Empty if none was sent. */
  acl: AclEntry[];
  /** Digits. */
  theme: string | undefined;
}

/**
 * Reads the form of `POST /api/series` (compatibility 4.4). Only `metadata` is required.
 *
 * @throws {HttpError} 400 with the sentences clients know
 */
export function parseNewSeries(fields: ReadonlyMap<string, string>, catalogs: CatalogSet): NewSeries {
  const text = fields.get('metadata') ?? '';
  if (text.trim() === '') throw METADATA_MISSING();
  const metadata = parseCatalogs(text, catalogs);
  const theme = parseInput(Theme, fields.get('theme') ?? '');
  const aclText = fields.get('acl') ?? '';
  const acl = aclText.trim() === '' ? [] : parseStrictAcl(aclText);
  requireValues(metadata, catalogs);
  return { metadata, acl, theme };
}

/**
 * Creates a series with its access control list and catalogs. The creator gets no rights that the list does not give. Never
 * overwrites a series whose identifier is used.
 *
 * @returns the identifier: the one in the metadata, else a new one
 * @throws {HttpError} 401 for the identifier of a series that the principal may not write, 409 for one that it may write
 */
export async function createSeries(
  trx: Transaction,
  { metadata, acl, theme }: NewSeries,
  principal: Principal,
  catalogs: CatalogSet,
): Promise<string> {
  const { [catalogs.common.flavor]: values = new Map(), ...further } = Object.fromEntries(metadata);
  const chosen = chosenIdentifier(values);
  const id = chosen ?? randomUUID();
  const inserted = await trx
    .insertInto('series')
    .values({
      ...seriesColumns(values),
      id,
      creator: principal.username,
      properties: JSON.stringify(theme === undefined ? {} : { theme }),
    })
    .onConflict((taken) => taken.column('id').doNothing())
    .returning('id')
    .executeTakeFirst();
  if (!inserted) {
    const own = await trx
      .selectFrom('series')
      .select('id')
      .where('id', '=', id)
      .where(mayAccess('series', principal, 'write'))
      .executeTakeFirst();
    throw own ? IDENTIFIER_TAKEN(id) : UNAUTHORIZED();
  }
  if (chosen) await requireEvents(trx, id, principal);
  await replaceAcl(trx, 'series', id, acl);
  await saveSeriesCatalogs(trx, id, new Map(Object.entries(further)), catalogs);
  await recordChanges(trx, [{ kind: 'series.created', seriesId: id, actor: principal.username }]);
  return id;
}

/** Events keep the identifier of a deleted series. A new series must not give access to events of other accounts. */
async function requireEvents(trx: Transaction, id: string, principal: Principal): Promise<void> {
  const foreign = await trx
    .selectFrom('events')
    .select('id')
    .where('series_id', '=', id)
    .where((where) => where.not(mayAccess('events', principal, 'write')))
    .limit(1)
    .executeTakeFirst();
  if (foreign) throw UNAUTHORIZED();
}
