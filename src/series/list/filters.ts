import { type SqlBool, sql } from 'kysely';
import { containsWords, hasValue } from '../../database/list/condition.ts';
import { badRequest } from '../../http/errors.ts';
import type { Filter } from '../../http/list/filter-set.ts';
import { endOf, parseInstant, parseWords } from '../../http/list/values.ts';

const PERIOD = 'yyyy-MM-ddTHH:mm:ssZ/yyyy-MM-ddTHH:mm:ssZ';
const MAX_SHOWN = 200;

const column = (name: string) => sql.ref(`series.${name}`);

/** A column that is equal to the value; an index has its series by their creation. */
const equals = (name: string): Filter => ({
  condition: ([value]) => hasValue(column(name), value),
});

/** A list one element of which is equal to one of the values. */
const holds = (name: string): Filter => ({
  repeated: 'any',
  condition: (values) => ({ test: sql`${column(name)} && ${[...values]}::text[]` }),
});

const created: Filter = {
  condition: ([value]) => {
    const [first = '', last = '', ...more] = value.split('/');
    if (first.trim() === '' || last.trim() === '' || more.length > 0) {
      throw badRequest(
        `Filter Series API error: Malformed date period. Correct UTC time period format: ${PERIOD}, stated date period string: "${value.slice(0, MAX_SHOWN)}"`,
      );
    }
    const [from, end] = [parseInstant(first), endOf(last)];
    if (!from) throw badRequest('Unable to parse createdFrom parameter.');
    if (!end) throw badRequest('Unable to parse createdTo parameter.');
    return {
      test: sql`(series.created >= ${from} AND series.created < ${end})`,
      inDefaultOrder: 'stretch',
    };
  },
};

const creator = equals('creator');
const description: Filter = {
  condition: ([value]) => ({ test: sql`series.description = ${value}` }),
};

/** The filters of series by name (contract 4.6, compatibility 4.2); some have a second spelling. */
export const SERIES_FILTERS: Readonly<Record<string, Filter>> = {
  identifier: {
    repeated: 'any',
    condition: (values) => ({ test: sql`series.id = ANY(${[...values]}::text[])`, few: true }),
  },
  title: equals('title'),
  description,
  desription: description,
  subject: holds('subjects'),
  language: equals('language'),
  license: equals('license'),
  rightsholder: equals('rights_holder'),
  creator,
  Creator: creator,
  organizers: holds('organizers'),
  contributors: holds('contributors'),
  publishers: holds('publishers'),
  CreationDate: created,
  creationDate: created,
  // Named access control lists are not kept.
  managedAcl: { condition: () => ({ test: sql<SqlBool>`false` }) },
  textFilter: {
    repeated: 'first',
    condition: ([value]) => ({
      test: containsWords(column('search_text'), parseWords(value)),
      costly: true,
    }),
  },
};
