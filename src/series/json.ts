import type { Selectable } from 'kysely';
import { ORGANIZATION } from '../access/organization.ts';
import type { Series } from '../database/schema.ts';
import { type ApiVersion, fieldsIn } from '../http/version.ts';
import { formatInstant } from '../metadata/time.ts';
import type { SeriesJson, SeriesListElement } from './series.schemas.ts';
import { SERIES_FIELDS, SERIES_LIST_FIELDS } from './versions.ts';

/** The columns the API shows of a series. */
export const SHOWN_COLUMNS = [
  'id',
  'title',
  'description',
  'creator',
  'created',
  'subjects',
  'contributors',
  'organizers',
  'publishers',
  'language',
  'license',
  'rights_holder',
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

function fields(series: SeriesRow) {
  return {
    identifier: series.id,
    title: series.title,
    description: series.description,
    creator: series.creator,
    created: formatInstant(series.created),
    subjects: series.subjects,
    contributors: series.contributors,
    organizers: series.organizers,
    publishers: series.publishers,
    language: series.language,
    license: series.license,
    rightsholder: series.rights_holder,
  } satisfies SeriesListElement;
}
