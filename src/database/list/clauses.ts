import { type Expression, type RawBuilder, type SqlBool, sql } from 'kysely';
import type { Entry, List, Slice } from './list.ts';
import { beyond, type Order, orderBy, type Term } from './order.ts';

/** The columns of a key, as `selectKey` names them. */
export type Row = Record<`k${number}`, string>;

/** All conditions hold. */
export function all(conditions: readonly Expression<SqlBool>[]): RawBuilder<SqlBool> {
  if (conditions.length === 0) return sql<SqlBool>`true`;
  return sql<SqlBool>`(${sql.join(conditions, sql` AND `)})`;
}

/** What an order sorts by, as columns `s0`, `s1`, ...; and the order of a query that has these. */
export function sortColumns(order: Order): { columns: RawBuilder<unknown>; order: Order } {
  const names = order.map((_, i) => sql.ref(`s${i}`));
  return {
    columns: sql.join(order.map(({ expression }, i) => sql`${expression} AS ${names[i]}`)),
    order: order.map((term, i) => ({ ...term, expression: names[i] ?? term.expression })),
  };
}

/** The condition that leads to the place of a slice. */
export function placeOf(order: Order, { position }: Slice): RawBuilder<SqlBool>[] {
  return position ? [beyond(order, position)] : [];
}

/** `ORDER BY` for rows of the table, as only the index that serves them has it. */
export function servedOrder({ order, constant }: List, slice: Slice): RawBuilder<unknown> {
  return orderBy([...constantTerm(order, constant), ...order], isReversed(slice));
}

/** The same for rows of which any will do. */
export function anyOrder({ order, constant }: List): RawBuilder<unknown> {
  return constant ? orderBy(constantTerm(order, constant)) : sql``;
}

function constantTerm([first]: Order, expression: List['constant']): Term[] {
  if (!first || !expression) return [];
  return [{ name: '', kind: 'text', expression: sql`${expression}`, descending: first.descending }];
}

/** Whether a slice has to be read from its end. */
export function isReversed({ position }: Slice): boolean {
  return position?.side === 'before';
}

/** A page, selected with the columns of `selectKey` and more, and what is shown of its rows; for `FROM`. */
export function withShown({ order, shown }: List, page: RawBuilder<unknown>): RawBuilder<unknown> {
  const id = sql.ref<string>(`page.k${order.length - 1}`);
  return sql`(${page}) AS page LEFT JOIN LATERAL ${shown(id)} AS shown ON true`;
}

/** An entry of a row that was selected `withShown`. */
export function entryOf<Shown>({ order }: List<Shown>, row: Row): Entry<Shown> {
  const key = order.map((_, i) => row[`k${i}`] ?? '');
  // The columns of what is shown stand beside those of the key.
  return { key, shown: row as Shown };
}
