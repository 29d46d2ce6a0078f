import { type SqlBool, sql } from 'kysely';
import { aclsOf } from '#access/acl/acl.queries.ts';
import { listedFields } from '#metadata/core-fields.ts';
import { SERIES_CORE_FIELDS } from '#metadata/series-fields.ts';
import type { Queryable } from '#platform/database/kysely.ts';
import type { Criterion } from '#platform/database/list/index.ts';
import { type ApiVersion, fieldsIn } from '#platform/http/answer/version.ts';
import { badRequest } from '#platform/http/errors/errors.ts';
import {
  endOfPeriod,
  equals,
  type Filter,
  hasWordsOf,
  isOneOf,
  type ListedResource,
  utcInstant,
} from '#platform/http/list/index.ts';
import { SERIES_LIST_FIELDS } from './series.schemas.ts';
import { type SeriesRow, seriesFields, shownSeries } from './series-queries.ts';
import { UNPARSABLE_END, UNPARSABLE_START } from './series-refusals.ts';

const PERIOD = 'yyyy-MM-ddTHH:mm:ssZ/yyyy-MM-ddTHH:mm:ssZ';
const MAX_SHOWN = 200;

const CORE = listedFields('series', SERIES_CORE_FIELDS);
const column = (name: string) => sql.ref(`series.${name}`);

const CREATED: Criterion = { name: 'created', expression: column('created'), kind: 'instant' };

const created: Filter = {
  condition: ([value]) => {
    const [first = '', last = '', ...more] = value.split('/');
    if (first.trim() === '' || last.trim() === '' || more.length > 0) {
      throw badRequest(
        `Filter Series API error: Malformed date period. Correct UTC time period format: ${PERIOD}, stated date period string: "${value.slice(0, MAX_SHOWN)}"`,
      );
    }
    const [from, end] = [utcInstant(first), endOfPeriod(last)];
    if (!from) throw UNPARSABLE_START();
    if (!end) throw UNPARSABLE_END();
    return { test: sql`(series.created >= ${from} AND series.created < ${end})`, inDefaultOrder: 'stretch' };
  },
};

const creator = equals(column('creator'));

/** The list of series with its filters and sort criteria (contract 4.6, compatibility 4.2). */
export const SERIES_LIST: ListedResource<SeriesRow> = {
  table: 'series',
  shown: shownSeries,
  // Each criterion has an index (sql/0009).
  sorts: {
    criteria: { ...CORE.criteria, created: CREATED },
    standard: { ...CREATED, descending: true },
    identifier: { name: 'identifier', expression: column('id'), kind: 'text' },
  },
  // The index of each column orders the series of a value by creation. Some filters have a second spelling.
  filters: {
    identifier: isOneOf(sql`series.id`),
    ...CORE.filters,
    desription: CORE.filters.description,
    creator,
    Creator: creator,
    CreationDate: created,
    creationDate: created,
    // Named access control lists do not exist here.
    managedAcl: { condition: () => ({ test: sql<SqlBool>`false` }) },
    textFilter: hasWordsOf(column('search_text')),
  },
  filtersSince: { ...CORE.filtersSince, identifier: '1.1.0', desription: '1.1.0', creator: '1.1.0' },
};

/** Returns the JSON of a page of series (contract 2.3, compatibility 4.1), with their ACLs if `withacl` is set. */
export async function seriesRowsJson(
  database: Queryable,
  series: readonly SeriesRow[],
  version: ApiVersion,
  { withacl }: { withacl: boolean },
) {
  const ids = series.map(({ id }) => id);
  const acls = withacl ? await aclsOf(database, 'series', ids) : undefined;
  return series.map((each) =>
    fieldsIn(version, SERIES_LIST_FIELDS, { ...seriesFields(each), ...(acls && { acl: acls.get(each.id) ?? [] }) }),
  );
}
