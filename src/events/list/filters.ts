import { type RawBuilder, type SqlBool, sql } from 'kysely';
import { type Condition, containsWords, hasValue } from '../../database/list/condition.ts';
import { badRequest } from '../../http/errors.ts';
import type { Filter } from '../../http/list/filter-set.ts';
import { endOf, parseInstant, parseWords } from '../../http/list/values.ts';
import { storedStatus } from '../status.ts';

const column = (name: string) => sql.ref(`events.${name}`);
const nothing = sql<SqlBool>`false`;

/** A column that is equal to the value; an index has its events by their start. */
const equals = (name: string): Filter => ({
  condition: ([value]) => hasValue(column(name), value),
});

/** A list one element of which is equal to one of the values. */
const holds = (name: string): Filter => ({
  condition: (values) => ({ test: sql`${column(name)} && ${[...values]}::text[]` }),
});

/** A moment within a period, both ends included. */
const within = (filter: string, name: string, serving: Omit<Condition, 'test'>): Filter => ({
  condition: ([value]) => {
    const ends = value.split('/');
    if (ends.length !== 2) throw unparsable(filter, 'The date range string is malformed');
    const [first = '', last = ''] = ends;
    const [from, end] = [parseInstant(first), endOf(last)];
    if (!from) throw unparsable(filter, 'Unable to parse from date parameter');
    if (!end) throw unparsable(filter, 'Unable to parse to date parameter');
    return { test: sql`(${column(name)} >= ${from} AND ${column(name)} < ${end})`, ...serving };
  },
});

/** The filters of events by name (contract 4.1, compatibility 3.3). */
export const EVENT_FILTERS: Readonly<Record<string, Filter>> = {
  identifier: {
    repeated: 'any',
    condition: (values) => ({ test: sql`events.id = ANY(${[...values]}::text[])`, few: true }),
  },
  title: equals('title'),
  description: { condition: ([value]) => ({ test: sql`events.description = ${value}` }) },
  presenters: { ...holds('presenters'), repeated: 'any' },
  contributors: { ...holds('contributors'), repeated: 'any' },
  location: equals('location'),
  series: equals('series_id'),
  is_part_of: equals('series_id'),
  series_name: equals('series_title'),
  subject: holds('subjects'),
  language: equals('language'),
  license: equals('license'),
  rightsholder: equals('rights_holder'),
  source: equals('source'),
  created: { condition: ([value]) => ({ test: createdAt(value) }) },
  status: {
    condition: ([value]) => {
      const status = storedStatus(value);
      if (status === undefined) return { test: nothing };
      return hasValue(column('status'), status);
    },
  },
  start: within('start', 'start_date', { inDefaultOrder: 'stretch' }),
  technical_start: within('technical_start', 'technical_start', {
    inOrderOf: { technical_start: 'stretch' },
  }),
  agent_id: {
    condition: ([value]) => ({
      ...hasValue(column('agent_id'), value),
      inOrderOf: { technical_start: 'value' },
    }),
  },
  textFilter: {
    repeated: 'first',
    condition: ([value]) => ({
      test: containsWords(column('search_text'), parseWords(value)),
      costly: true,
    }),
  },
};

/** Created at a moment as clients see it, to the second. */
function createdAt(value: string): RawBuilder<SqlBool> {
  const [from, end] = [parseInstant(value), endOf(value)];
  if (!from || !end || value.includes('.')) return nothing;
  return sql`(events.created >= ${from} AND events.created < ${end})`;
}

function unparsable(filter: string, reason: string) {
  return badRequest(`Filter '${filter}' could not be parsed: ${reason}`);
}
