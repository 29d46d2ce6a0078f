import type { Expression, Selectable } from 'kysely';
import { UNAUTHORIZED } from '#access/access-errors.ts';
import { mayAccess } from '#access/acl/acl.queries.ts';
import type { Principal } from '#access/principal.ts';
import { ORGANIZATION } from '#access/roles/roles.ts';
import { recordChanges } from '#changes/record.ts';
import { columnNames } from '#metadata/columns.ts';
import { fieldsShown, inOrder } from '#metadata/core-json.ts';
import { SERIES_CORE_FIELDS } from '#metadata/series.ts';
import { formatInstant } from '#metadata/time.ts';
import type { Queryable, Transaction } from '#platform/database/kysely.ts';
import type { Series } from '#platform/database/schema.ts';
import { type ApiVersion, fieldsIn } from '#platform/http/answer/version.ts';
import type { Refusal } from '#platform/http/errors/refusal.ts';
import { FIRST_SHOWN } from './examples.ts';
import { SERIES_MISSING } from './refusals.ts';
import { SERIES_FIELDS, SERIES_LIST_FIELDS, type SeriesJson, type SeriesListElement } from './series.schemas.ts';

/** The columns the API shows of a series. */
const SHOWN_COLUMNS = [
  'id',
  'creator',
  'created',
  ...columnNames(SERIES_CORE_FIELDS),
] as const satisfies readonly (keyof Series)[];

/** A series as the API shows it, before versions come into play. */
export type SeriesRow = Pick<Selectable<Series>, (typeof SHOWN_COLUMNS)[number]>;

/** What a request wants beside the series itself. */
type SeriesExtras = Pick<SeriesListElement, 'acl'>;

/** An element of the list of series (contract 2.3, compatibility 4.1). */
export function seriesListJson(series: SeriesRow, version: ApiVersion, extras: SeriesExtras = {}) {
  return fieldsIn(version, SERIES_LIST_FIELDS, { ...fields(series), ...extras });
}

/** A series read by itself (contract 2.4, compatibility 4.1). */
export function seriesJson(series: SeriesRow, version: ApiVersion, extras: SeriesExtras = {}) {
  return fieldsIn(version, SERIES_FIELDS, {
    ...fields(series),
    organization: ORGANIZATION.id,
    opt_out: false,
    ...extras,
  } satisfies SeriesJson);
}

const fieldsOfSeries = fieldsShown(SERIES_CORE_FIELDS);

function fields(series: SeriesRow) {
  return inOrder(FIRST_SHOWN, {
    identifier: series.id,
    ...fieldsOfSeries(series),
    creator: series.creator,
    created: formatInstant(series.created),
  } satisfies SeriesListElement);
}

/** One series the principal may read, or undefined; its properties are read apart, since they may be many. */
export function findSeries(db: Queryable, id: string, principal: Principal) {
  return db
    .selectFrom('series')
    .select(SHOWN_COLUMNS)
    .where('id', '=', id)
    .where(mayAccess('series', principal, 'read'))
    .executeTakeFirst();
}

/** Selects what lists show of a series, for one that may show it. */
export function shownSeries(database: Queryable, id: Expression<string>) {
  return database.selectFrom('series').select(SHOWN_COLUMNS).where('id', '=', id).limit(1);
}

/** The properties of a series the principal may read, or undefined. */
export async function findProperties(
  db: Queryable,
  id: string,
  principal: Principal,
): Promise<Record<string, string> | undefined> {
  const found = await db
    .selectFrom('series')
    .select('properties')
    .where('id', '=', id)
    .where(mayAccess('series', principal, 'read'))
    .executeTakeFirst();
  return found?.properties as Record<string, string> | undefined;
}

/**
 * Locks a series for the rest of the transaction, which is what every change of one begins with.
 *
 * @param missing the refusal of a series that is not there
 * @throws {HttpError} 404 for a series the principal may not read, 401 for one it may only read
 */
export async function lockSeries(
  trx: Transaction,
  principal: Principal,
  id: string,
  missing: Refusal | Refusal<[string]> = SERIES_MISSING,
): Promise<void> {
  const found = await trx
    .selectFrom('series')
    .select(mayAccess('series', principal, 'write').as('writable'))
    .where('id', '=', id)
    .where(mayAccess('series', principal, 'read'))
    .forUpdate()
    .executeTakeFirst();
  if (!found) throw missing(id);
  if (!found.writable) throw UNAUTHORIZED();
}

/** Writes down that somebody has changed a part of a series. */
export async function recordChange(
  trx: Transaction,
  { id, principal, part }: { id: string; principal: Principal; part: 'metadata' | 'acl' | 'properties' },
): Promise<void> {
  const data = { parts: [part] };
  await recordChanges(trx, [{ kind: 'series.changed', seriesId: id, actor: principal.username, data }]);
}
