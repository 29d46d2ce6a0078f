import type { Listing } from '../../database/list/index.ts';
import { API_VERSIONS, type ApiVersion, atLeast } from '../answer/version.ts';
import { refusal } from '../errors/refusal.ts';
import { parseFilters } from './filter-grammar.ts';
import { conditionsOf, type Filter } from './filters.ts';
import { isStandard, orderOf, parseSort, type Sorts } from './sorts.ts';

/** Before this version, unknown filters had no effect. */
const UNKNOWN_REFUSED_SINCE: ApiVersion = '1.1.0';
const MAX_SHOWN = 200;

export const UNKNOWN_FILTER = refusal(400, (name: string) => `Unknown filter criterion in request: ${name}`, [
  'colour',
]);

/** The definition of a list. */
export interface ListedResource<Row = unknown> extends Pick<Listing<Row>, 'table' | 'shown'> {
  sorts: Sorts;
  /** By public name. */
  filters: Readonly<Record<string, Filter>>;
  /** The version that introduced a filter; the first one by default. */
  filtersSince?: Readonly<Record<string, ApiVersion>>;
  /** The version since which values may hold colons; before, a colon ended a value. */
  colonsSince?: ApiVersion;
}

export interface ListRequest extends Pick<Listing, 'access'> {
  sort?: string | undefined;
  /** Values of the parameter `filter`; a row must match one of them. */
  filters?: readonly string[];
  /** Values of dedicated parameters, by filter name, valid in every version; a row must match all. */
  criteria?: Readonly<Record<string, string>>;
}

/** Returns the query for a request. @throws {HttpError} 400 for an unreadable sort or filter */
export function listingOf<Row>(
  resource: ListedResource<Row>,
  { sort, filters = [], criteria, access }: ListRequest,
  version: ApiVersion,
): Listing<Row> {
  const { table, shown, sorts, colonsSince = API_VERSIONS[0] } = resource;
  const order = orderOf(parseSort(sort), sorts);
  const groups = parseFilters(filters, { colons: atLeast(version, colonsSince) }).map((parts) =>
    conditionsOf(parts, (name) => findFilter(resource, name, version)),
  );
  if (criteria) {
    const parts = Object.entries(criteria).map(([name, value]) => ({ name, value }));
    groups.push(conditionsOf(parts, (name) => resource.filters[name]));
  }
  return { table, shown, order, isDefaultOrder: isStandard(order, sorts), groups, access };
}

function findFilter(
  { filters, filtersSince = {} }: ListedResource,
  name: string,
  version: ApiVersion,
): Filter | undefined {
  const known = Object.hasOwn(filters, name) && atLeast(version, filtersSince[name] ?? API_VERSIONS[0]);
  if (known) return filters[name];
  if (!atLeast(version, UNKNOWN_REFUSED_SINCE)) return undefined;
  throw UNKNOWN_FILTER(name.slice(0, MAX_SHOWN));
}
