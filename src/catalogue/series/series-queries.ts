import type { Expression, Selectable } from 'kysely';
import { lockWritable, mayAccess } from '#access/acl/acl.queries.ts';
import type { Principal } from '#access/principal.ts';
import { ORGANIZATION } from '#access/roles/roles.ts';
import { recordChanges } from '#changes/record-changes.ts';
import { columnNames, fieldsShown, inOrder } from '#metadata/core-fields.ts';
import { formatInstant } from '#metadata/date-time.ts';
import { SERIES_CORE_FIELDS } from '#metadata/series-fields.ts';
import type { Queryable, Transaction } from '#platform/database/kysely.ts';
import type { Series } from '#platform/database/schema.ts';
import { type ApiVersion, fieldsIn } from '#platform/http/answer/version.ts';
import type { Refusal } from '#platform/http/errors/errors.ts';
import { SERIES_FIELDS, type SeriesJson, type SeriesListElement } from './series.schemas.ts';
import { FIRST_SHOWN } from './series-examples.ts';
import { SERIES_MISSING } from './series-refusals.ts';

const SHOWN_COLUMNS = [
  'id',
  'creator',
  'created',
  ...columnNames(SERIES_CORE_FIELDS),
] as const satisfies readonly (keyof Series)[];

/** The columns of a series that the API shows. */
export type SeriesRow = Pick<Selectable<Series>, (typeof SHOWN_COLUMNS)[number]>;

/** Returns the JSON of a single series (contract 2.4, compatibility 4.1). */
export function seriesJson(series: SeriesRow, version: ApiVersion, extras: Pick<SeriesJson, 'acl'> = {}) {
  return fieldsIn(version, SERIES_FIELDS, {
    ...seriesFields(series),
    organization: ORGANIZATION.id,
    opt_out: false,
    ...extras,
  } satisfies SeriesJson);
}

const fieldsOfSeries = fieldsShown(SERIES_CORE_FIELDS);

/** Returns the fields of a series that lists show, too. */
export function seriesFields(series: SeriesRow) {
  return inOrder(FIRST_SHOWN, {
    identifier: series.id,
    ...fieldsOfSeries(series),
    creator: series.creator,
    created: formatInstant(series.created),
  } satisfies SeriesListElement);
}

/** Returns the series if the principal may read it. Its properties are loaded separately, because they may be large. */
export function findSeries(db: Queryable, id: string, principal: Principal) {
  return db
    .selectFrom('series')
    .select(SHOWN_COLUMNS)
    .where('id', '=', id)
    .where(mayAccess('series', principal, 'read'))
    .executeTakeFirst();
}

/** Selects a series for a list, which has checked access. */
export function shownSeries(database: Queryable, id: Expression<string>) {
  return database.selectFrom('series').select(SHOWN_COLUMNS).where('id', '=', id).limit(1);
}

/** Returns the properties of a series if the principal may read it. */
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
 * Locks a series until the transaction ends. Every change of a series begins with it.
 *
 * @param missing the refusal for a missing series
 * @throws {HttpError} 404 for a series the principal may not read, 401 for one it may only read
 */
export function lockSeries(
  trx: Transaction,
  principal: Principal,
  id: string,
  missing: Refusal | Refusal<[string]> = SERIES_MISSING,
): Promise<void> {
  return lockWritable(trx, 'series', principal, id, missing);
}

/** Deletes a locked series. Triggers remove its title and roles from its events (sql/0037). */
export async function removeSeries(trx: Transaction, id: string, actor: string): Promise<void> {
  const deleted = trx.deleteFrom('series').where('id', '=', id).returning(['title', 'read_roles']);
  const { title, read_roles: readRoles } = await deleted.executeTakeFirstOrThrow();
  await recordChanges(trx, [{ kind: 'series.deleted', seriesId: id, actor, readRoles, data: { title } }]);
}

/** Records a change of a part of a series. */
export async function recordChange(
  trx: Transaction,
  { id, principal, part }: { id: string; principal: Principal; part: 'metadata' | 'acl' | 'properties' },
): Promise<void> {
  const about = { seriesId: id, actor: principal.username };
  await recordChanges(trx, [{ kind: 'series.changed', ...about, data: { parts: [part] } }]);
}
