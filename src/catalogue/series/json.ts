import type { Selectable } from 'kysely';
import { ORGANIZATION } from '#access/roles/roles.ts';
import { columnNames } from '#metadata/columns.ts';
import { fieldsShown, inOrder } from '#metadata/core-json.ts';
import { SERIES_CORE_FIELDS } from '#metadata/series.ts';
import { formatInstant } from '#metadata/time.ts';
import type { Series } from '#platform/database/schema.ts';
import { type ApiVersion, fieldsIn } from '#platform/http/answer/version.ts';
import { FIRST_SHOWN } from './examples.ts';
import type { SeriesJson, SeriesListElement } from './series.schemas.ts';
import { SERIES_FIELDS, SERIES_LIST_FIELDS } from './versions.ts';

/** The columns the API shows of a series. */
export const SHOWN_COLUMNS = [
  'id',
  'creator',
  'created',
  ...columnNames(SERIES_CORE_FIELDS),
] as const satisfies readonly (keyof Series)[];

/** A series as the API shows it, before versions come into play. */
export type SeriesRow = Pick<Selectable<Series>, (typeof SHOWN_COLUMNS)[number]>;

/** What a request wants beside the series itself. */
export type SeriesExtras = Pick<SeriesListElement, 'acl'>;

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
