import { sql } from 'kysely';
import type { Criterion } from '../../database/list/order.ts';
import type { Sorts } from '../../http/list/sort-grammar.ts';

const instant = (name: string, column: string): Criterion => ({
  name,
  expression: sql.ref(`events.${column}`),
  kind: 'instant',
});
const text = (name: string, column: string): Criterion => ({
  name,
  expression: sql`${sql.ref(`events.${column}`)} COLLATE "und-x-icu"`,
  kind: 'text',
});

const START = instant('start_date', 'start_date');
const TECHNICAL_START = instant('technical_start', 'technical_start');

/**
 * What events can be sorted by (compatibility 3.3): newest start first by default. Each has an index (sql/0009,
 * sql/0012).
 */
export const EVENT_SORTS: Sorts = {
  criteria: {
    title: text('title', 'title'),
    presenter: {
      name: 'presenter',
      expression: sql`coalesce(events.presenters[1], '') COLLATE "und-x-icu"`,
      kind: 'text',
    },
    start_date: START,
    date: START,
    end_date: instant('end_date', 'end_date'),
    technical_start: TECHNICAL_START,
    technical_date: TECHNICAL_START,
    technical_end: instant('technical_end', 'technical_end'),
    workflow_state: { name: 'workflow_state', expression: sql.ref('events.processing_state'), kind: 'text' },
    series_name: text('series_name', 'series_title'),
    location: text('location', 'location'),
    review_status: null,
    scheduling_status: null,
  },
  standard: { ...START, descending: true },
  identifier: { name: 'identifier', expression: sql.ref('events.id'), kind: 'text' },
};
