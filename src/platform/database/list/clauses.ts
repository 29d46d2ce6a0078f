import { type Expression, type RawBuilder, type SqlBool, sql } from 'kysely';
import type { List } from './list.ts';
import type { Criterion, Entry, Order, Position, Slice, Term } from './listing.ts';

/** Joins conditions by AND. */
export function all(conditions: readonly Expression<SqlBool>[]): RawBuilder<SqlBool> {
  if (conditions.length === 0) return sql<SqlBool>`true`;
  return sql<SqlBool>`(${sql.join(conditions, sql` AND `)})`;
}

/** The columns of a key, as `selectKey` names them. */
export type Row = Record<`k${number}`, string>;

/** Selects the values of a row's key as columns `k0`, `k1`, ... */
export function selectKey(order: Order): RawBuilder<unknown> {
  return sql.join(order.map((term, i) => sql`${asText(term)} AS ${sql.ref(`k${i}`)}`));
}

function asText({ kind, expression }: Criterion): RawBuilder<unknown> {
  if (kind === 'text') return expression;
  if (kind === 'number') return sql`${expression}::text`;
  return sql`to_char(${expression} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`;
}

/** Selects the expressions of an order as columns `s0`, `s1`, ..., and returns the order by these columns. */
export function sortColumns(order: Order): { columns: RawBuilder<unknown>; order: Order } {
  const names = order.map((_, i) => sql.ref(`s${i}`));
  return {
    columns: sql.join(order.map(({ expression }, i) => sql`${expression} AS ${names[i]}`)),
    order: order.map((term, i) => ({ ...term, expression: names[i] ?? term.expression })),
  };
}

export function orderBy(order: Order, reversed = false): RawBuilder<unknown> {
  const terms = order.map(({ expression, descending }) =>
    descending === reversed ? sql`${expression} ASC` : sql`${expression} DESC`,
  );
  return sql`ORDER BY ${sql.join(terms)}`;
}

/** `ORDER BY` for rows of the table, written so that only the index that serves them matches. */
export function servedOrder({ order, constant }: List, slice: Slice): RawBuilder<unknown> {
  return orderBy([...constantTerm(order, constant), ...order], isReversed(slice));
}

/** The same for any rows of the list. */
export function anyOrder({ order, constant }: List): RawBuilder<unknown> {
  return constant ? orderBy(constantTerm(order, constant)) : sql``;
}

function constantTerm([first]: Order, expression: List['constant']): Term[] {
  if (!first || !expression) return [];
  return [{ name: '', kind: 'text', expression: sql`${expression}`, descending: first.descending }];
}

/** Reports whether a slice is read from its end. */
export function isReversed({ position }: Slice): boolean {
  return position?.side === 'before';
}

/** Returns the condition that leads to the position of a slice. */
export function placeOf(order: Order, { position }: Slice): RawBuilder<SqlBool>[] {
  return position ? [beyond(order, position)] : [];
}

/** Selects the rows on the wanted side of the key, even when its own row was deleted. */
function beyond(order: Order, { side, key }: Position): RawBuilder<SqlBool> {
  const terms = order.map((term, i) => ({
    expression: term.expression,
    value: fromText(term, key[i] ?? ''),
    rising: term.descending === (side === 'before'),
  }));
  const [first] = terms;
  if (!first) throw new Error('An order needs at least one term.');
  if (terms.every(({ rising }) => rising === first.rising)) {
    // A comparison of rows is one range of the index.
    const expressions = sql.join(terms.map(({ expression }) => expression));
    const values = sql.join(terms.map(({ value }) => value));
    return sql<SqlBool>`(${expressions}) ${first.rising ? sql`>` : sql`<`} (${values})`;
  }
  const past = terms.reduceRight<RawBuilder<SqlBool>>(
    (rest, { expression, value, rising }) =>
      sql<SqlBool>`(${expression} ${rising ? sql`>` : sql`<`} ${value} OR (${expression} = ${value} AND ${rest}))`,
    sql<SqlBool>`false`,
  );
  // Redundant, but it gives the index a start.
  return sql<SqlBool>`(${first.expression} ${first.rising ? sql`>=` : sql`<=`} ${first.value} AND ${past})`;
}

const TYPES: Readonly<Record<Criterion['kind'], RawBuilder<unknown>>> = {
  text: sql`text`,
  number: sql`bigint`,
  instant: sql`timestamptz`,
};

function fromText({ kind }: Criterion, value: string): RawBuilder<unknown> {
  return sql`${value}::${TYPES[kind]}`;
}

/** Joins a page, selected with the columns of `selectKey` and others, with what is shown of its rows; for `FROM`. */
export function withShown({ order, shown }: List, page: RawBuilder<unknown>): RawBuilder<unknown> {
  const id = sql.ref<string>(`page.k${order.length - 1}`);
  return sql`(${page}) AS page LEFT JOIN LATERAL ${shown(id)} AS shown ON true`;
}

/** Converts a row that was selected `withShown`. */
export function entryOf<Shown>({ order }: List<Shown>, row: Row): Entry<Shown> {
  const key = order.map((_, i) => row[`k${i}`] ?? '');
  // The shown columns stand beside those of the key.
  return { key, shown: row as Shown };
}
