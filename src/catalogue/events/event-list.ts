import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { CatalogSet } from '#metadata/catalogs.ts';
import { listedFields } from '#metadata/core-fields.ts';
import { EVENT_CORE_FIELDS } from '#metadata/episode-fields.ts';
import type { Queryable } from '#platform/database/kysely.ts';
import { type Condition, type Criterion, hasValue } from '#platform/database/list/index.ts';
import type { ApiVersion } from '#platform/http/answer/version.ts';
import {
  endOfPeriod,
  equals,
  type Filter,
  hasWordsOfEither,
  isOneOf,
  type ListedResource,
  utcInstant,
} from '#platform/http/list/index.ts';
import { CAPTION_WORDS } from '#publications/caption-words.ts';
import type { PublicationAddresses } from '#publications/publication-json.ts';
import type { EventQuery } from './event.schemas.ts';
import { type EventRow, eventJson, loadExtras, shownEvent, storedStatus } from './event-json.ts';
import { UNPARSABLE_FILTER } from './event-refusals.ts';
import { EVENT_CHANGES } from './event-versions.ts';

const CORE = listedFields('events', EVENT_CORE_FIELDS);
const column = (name: string) => sql.ref(`events.${name}`);
const nothing = sql<SqlBool>`false`;

const instant = (name: string): Criterion => ({ name, expression: column(name), kind: 'instant' });

const START = instant('start_date');
const TECHNICAL_START = instant('technical_start');

/** Matches instants within a period, both ends included. */
const within = (filter: string, name: string, serving: Omit<Condition, 'test'>): Filter => ({
  condition: ([value]) => {
    const ends = value.split('/');
    if (ends.length !== 2) throw UNPARSABLE_FILTER(filter, 'The date range string is malformed');
    const [first = '', last = ''] = ends;
    const [from, end] = [utcInstant(first), endOfPeriod(last)];
    if (!from) throw UNPARSABLE_FILTER(filter, 'Unable to parse from date parameter');
    if (!end) throw UNPARSABLE_FILTER(filter, 'Unable to parse to date parameter');
    return { test: sql`(${column(name)} >= ${from} AND ${column(name)} < ${end})`, ...serving };
  },
});

/** Matches events created in the given second. */
function createdAt(value: string): RawBuilder<SqlBool> {
  const [from, end] = [utcInstant(value), endOfPeriod(value)];
  if (!from || !end || value.includes('.')) return nothing;
  return sql`(events.created >= ${from} AND events.created < ${end})`;
}

/** The list of events with its filters and sort criteria (contract 4.1, compatibility 3.3). */
export const EVENT_LIST: ListedResource<EventRow> = {
  table: 'events',
  shown: shownEvent,
  // Each criterion has an index (sql/0009, sql/0012).
  sorts: {
    criteria: {
      ...CORE.criteria,
      start_date: START,
      date: START,
      end_date: instant('end_date'),
      technical_start: TECHNICAL_START,
      technical_date: TECHNICAL_START,
      technical_end: instant('technical_end'),
      workflow_state: { name: 'workflow_state', expression: column('processing_state'), kind: 'text' },
      series_name: {
        name: 'series_name',
        expression: sql`${column('series_title')} COLLATE "und-x-icu"`,
        kind: 'text',
      },
      review_status: null,
      scheduling_status: null,
    },
    standard: { ...START, descending: true },
    identifier: { name: 'identifier', expression: column('id'), kind: 'text' },
  },
  // The index of each column orders the events of a value by start.
  filters: {
    identifier: isOneOf(sql`events.id`),
    ...CORE.filters,
    series: equals(column('series_id')),
    is_part_of: equals(column('series_id')),
    series_name: equals(column('series_title')),
    created: { condition: ([value]) => ({ test: createdAt(value) }) },
    status: {
      condition: ([value]) => {
        const status = storedStatus(value);
        return status === undefined ? { test: nothing } : hasValue(column('status'), status);
      },
    },
    start: within('start', 'start_date', { inDefaultOrder: 'stretch' }),
    technical_start: within('technical_start', 'technical_start', { inOrderOf: { technical_start: 'stretch' } }),
    agent_id: {
      condition: ([value]) => ({ ...hasValue(column('agent_id'), value), inOrderOf: { technical_start: 'value' } }),
    },
    textFilter: hasWordsOfEither('events', column('search_text'), CAPTION_WORDS),
  },
  filtersSince: {
    ...CORE.filtersSince,
    identifier: '1.1.0',
    series_name: '1.1.0',
    created: '1.1.0',
    status: '1.1.0',
    is_part_of: '1.1.0',
    agent_id: '1.1.0',
    start: '1.1.0',
    technical_start: '1.1.0',
  },
  colonsSince: EVENT_CHANGES.colonsInFilters,
};

/** Returns the JSON of a page of events. */
export async function eventListJson(
  database: Queryable,
  events: readonly EventRow[],
  query: EventQuery,
  options: PublicationAddresses & { version: ApiVersion; catalogs: CatalogSet },
) {
  const extras = await loadExtras(database, events, query, options);
  return events.map((event) => eventJson(event, options.version, extras(event.id)));
}
