import { sql } from 'kysely';
import type { Criterion } from '#platform/database/list/index.ts';
import { API_VERSIONS, type Since } from '#platform/http/answer/version.ts';
import { equals, type Filter, hasElement } from '#platform/http/list/index.ts';
import { takesList } from './catalog.ts';
import { withColumn } from './columns.ts';
import type { CoreField } from './core-field.ts';
import { isIndexable } from './values.ts';

type FilterName<F> = F extends { filter: { name: infer Name extends string } } ? Name : never;
type SortName<F> = F extends { sort: infer Name extends string } ? Name : never;

/** The filters and sort criteria of fields. */
export interface ListedFields<F extends CoreField> {
  filters: Record<FilterName<F>, Filter>;
  filtersSince: Since;
  criteria: Record<SortName<F>, Criterion>;
}

export function filterNames<F extends CoreField>(fields: readonly F[]): FilterName<F>[] {
  return fields.flatMap(({ filter }) => (filter ? [filter.name as FilterName<F>] : []));
}

/** Returns the filters and sort criteria of fields. Each needs an index. */
export function listedFields<F extends CoreField>(table: string, fields: readonly F[]): ListedFields<F> {
  const filters: Record<string, Filter> = {};
  const filtersSince: Record<string, Since[string]> = {};
  const criteria: Record<string, Criterion> = {};
  for (const field of withColumn(fields)) {
    const { filter, sort } = field;
    const column = sql.ref(`${table}.${field.column}`);
    if (filter) {
      filters[filter.name] = filterOf(field, column, filter.repeated);
      const since = filter.since ?? field.since;
      if (since && since !== API_VERSIONS[0]) filtersSince[filter.name] = since;
    }
    if (sort !== undefined) {
      const text = takesList(field) ? sql`coalesce(${column}[1], '')` : column;
      criteria[sort] = { name: sort, expression: sql`${text} COLLATE "und-x-icu"`, kind: 'text' };
    }
  }
  return { filters, filtersSince, criteria } as ListedFields<F>;
}

function filterOf(field: CoreField, column: ReturnType<typeof sql.ref>, repeated: Filter['repeated']): Filter {
  if (takesList(field)) return { ...hasElement(column), repeated };
  if (isIndexable(field)) return equals(column);
  // Only a hash index holds texts of that length, and it has no order.
  return { condition: ([value]) => ({ test: sql`${column} = ${value}` }) };
}
