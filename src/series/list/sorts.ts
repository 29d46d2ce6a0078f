import { sql } from 'kysely';
import type { Criterion } from '../../database/list/order.ts';
import type { Sorts } from '../../http/list/sort-grammar.ts';

const CREATED: Criterion = { name: 'created', expression: sql.ref('series.created'), kind: 'instant' };

const firstOf = (name: string, column: string): Criterion => ({
  name,
  expression: sql`coalesce(${sql.ref(`series.${column}`)}[1], '') COLLATE "und-x-icu"`,
  kind: 'text',
});

/** What series can be sorted by (compatibility 4.2): the latest first by default. Each has an index (sql/0009). */
export const SERIES_SORTS: Sorts = {
  criteria: {
    title: { name: 'title', expression: sql`series.title COLLATE "und-x-icu"`, kind: 'text' },
    contributors: firstOf('contributors', 'contributors'),
    // Not the account that created it, which the field of this name shows.
    creator: firstOf('creator', 'organizers'),
    created: CREATED,
  },
  standard: { ...CREATED, descending: true },
  identifier: { name: 'identifier', expression: sql.ref('series.id'), kind: 'text' },
};
