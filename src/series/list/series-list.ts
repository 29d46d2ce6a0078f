import { type Action, mayAccess } from '../../access/acl.queries.ts';
import type { Principal } from '../../access/principal.ts';
import type { Queryable } from '../../database/kysely.ts';
import { listOf } from '../../database/list/condition.ts';
import type { List } from '../../database/list/list.ts';
import type { Order } from '../../database/list/order.ts';
import { introducedBy, offers } from '../../http/api-changes.ts';
import { badRequest } from '../../http/errors.ts';
import { parseFilters } from '../../http/list/filter-grammar.ts';
import { conditionsOf, type Filter } from '../../http/list/filter-set.ts';
import { isStandard } from '../../http/list/sort-grammar.ts';
import { type ApiVersion, atLeast } from '../../http/version.ts';
import type { SeriesRow } from '../json.ts';
import { shownSeries } from '../queries.ts';
import { SERIES_FILTERS } from './filters.ts';
import { SERIES_SORTS } from './sorts.ts';

/** What a request for series asks for. */
export interface SeriesListRequest {
  database: Queryable;
  principal: Principal;
  /** What the principal must be allowed to do with each series. */
  action: Action;
  /** The parameter `filter`. */
  filter: string | undefined;
  order: Order;
  version: ApiVersion;
}

/**
 * The series a request asks for.
 *
 * @throws {HttpError} 400 for a filter that cannot be read
 */
export function seriesList({
  database,
  principal,
  action,
  filter,
  order,
  version,
}: SeriesListRequest): List<SeriesRow> {
  return listOf({
    table: 'series',
    order,
    shown: (id) => shownSeries(database, id),
    isDefaultOrder: isStandard(order, SERIES_SORTS),
    // Values of these filters could hold colons in all versions.
    groups: parseFilters(filter ? [filter] : [], { colons: true }).map((parts) =>
      conditionsOf(parts, (name) => findFilter(name, version)),
    ),
    access: principal.isAdmin() ? undefined : mayAccess('series', principal, action),
  });
}

function findFilter(name: string, version: ApiVersion): Filter | undefined {
  const since = introducedBy('seriesFilters', name);
  const known = Object.hasOwn(SERIES_FILTERS, name) && atLeast(version, since);
  if (known) return SERIES_FILTERS[name];
  if (!offers(version, 'filterGrammar', 'unknownNamesRefused')) return undefined;
  throw badRequest(`Unknown filter criterion in request: ${name.slice(0, 200)}`);
}
