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
import { type EventRow, shownEvent } from '../queries.ts';
import { EVENT_FILTERS } from './filters.ts';
import { EVENT_SORTS } from './sorts.ts';

/** What a request for events asks for. */
export interface EventListRequest {
  database: Queryable;
  principal: Principal;
  /** What the principal must be allowed to do with each event. */
  action: Action;
  /** The values of the parameter `filter`. */
  filters: readonly string[];
  order: Order;
  version: ApiVersion;
}

/**
 * The events a request asks for. Several filters are a union; before 1.5.0 only the first one counts.
 *
 * @throws {HttpError} 400 for a filter that cannot be read
 */
export function eventList({
  database,
  principal,
  action,
  filters,
  order,
  version,
}: EventListRequest): List<EventRow> {
  const counted = offers(version, 'eventParameters', 'repeatedFilter') ? filters : filters.slice(0, 1);
  const colons = offers(version, 'filterGrammar', 'colonsInValues');
  return listOf({
    table: 'events',
    order,
    shown: (id) => shownEvent(database, id),
    isDefaultOrder: isStandard(order, EVENT_SORTS),
    groups: parseFilters(counted, { colons }).map((parts) =>
      conditionsOf(parts, (name) => findFilter(name, version)),
    ),
    access: principal.isAdmin() ? undefined : mayAccess('events', principal, action),
  });
}

function findFilter(name: string, version: ApiVersion): Filter | undefined {
  const known =
    Object.hasOwn(EVENT_FILTERS, name) && atLeast(version, introducedBy('eventFilters', name))
      ? EVENT_FILTERS[name]
      : undefined;
  if (!known && offers(version, 'filterGrammar', 'unknownNamesRefused')) {
    throw badRequest(`Unknown filter criterion in request: ${name.slice(0, 200)}`);
  }
  return known;
}
