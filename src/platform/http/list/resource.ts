import type { Listing } from '../../database/list/index.ts';
import { API_VERSIONS, type ApiVersion, atLeast } from '../answer/version.ts';
import { refusal } from '../errors/refusal.ts';
import { parseFilters } from './filter-grammar.ts';
import { conditionsOf, type Filter } from './filters.ts';
import { isStandard, orderOf, parseSort, type Sorts } from './sorts.ts';

/** The version since which unknown names of filters are refused; before, they had no effect. */
const UNKNOWN_REFUSED_SINCE: ApiVersion = '1.1.0';
const MAX_SHOWN = 200;

export const UNKNOWN_FILTER = refusal(400, (name: string) => `Unknown filter criterion in request: ${name}`, [
  'colour',
]);

/** What a feature says about the list of what it has. */
export interface ListedResource<Row = unknown> extends Pick<Listing<Row>, 'table' | 'shown'> {
  sorts: Sorts;
  /** By the names clients use. */
  filters: Readonly<Record<string, Filter>>;
  /** Which version brought a filter, by its name; the first one brought what is not mentioned. */
  filtersSince?: Readonly<Record<string, ApiVersion>>;
  /** The version since which values of filters hold colons, the first one unless given; before, these ended a value. */
  colonsSince?: ApiVersion;
}

/** What a request asks of a list. */
export interface ListRequest extends Pick<Listing, 'access'> {
  /** The parameter `sort`. */
  sort?: string | undefined;
  /** The values of the parameter `filter`; a row has to fit one of them. */
  filters?: readonly string[];
  /** Values from parameters of their own, by the names of filters, which count in every version; a row has to fit all. */
  criteria?: Readonly<Record<string, string>>;
}

/**
 * The rows that a request wants, and their order.
 *
 * @throws {HttpError} 400 for a sort or a filter that cannot be read
 */
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
