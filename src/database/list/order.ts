import { type RawBuilder, type SqlBool, sql } from 'kysely';

/** What a list can be sorted by: an expression as its index has it. */
export interface Criterion {
  name: string;
  expression: RawBuilder<unknown>;
  kind: 'text' | 'instant';
}

/** A criterion with its direction. */
export interface Term extends Criterion {
  descending: boolean;
}

/** A total order: the last term is different in every row. */
export type Order = readonly Term[];

/** Where a row stands in an order: the value of each term as text, instants as `2026-04-13T08:15:00.000000Z`. */
export type Key = readonly string[];

/** A place in a list: the rows after that of the key, or those before it. */
export interface Position {
  side: 'after' | 'before';
  key: Key;
}

/** Column names of the values of a key. */
export const keyColumns = (order: Order) => order.map((_, i) => `k${i}`);

/** The values of a row's key as columns `k0`, `k1`, ... */
export function selectKey(order: Order): RawBuilder<unknown> {
  const columns = keyColumns(order);
  return sql.join(order.map((term, i) => sql`${asText(term)} AS ${sql.ref(columns[i] ?? '')}`));
}

/** `ORDER BY` the terms, or the other way round. */
export function orderBy(order: Order, reversed = false): RawBuilder<unknown> {
  const terms = order.map(({ expression, descending }) =>
    descending === reversed ? sql`${expression} ASC` : sql`${expression} DESC`,
  );
  return sql`ORDER BY ${sql.join(terms)}`;
}

/** The rows on the wanted side of the key, whether or not its own row is still there. */
export function beyond(order: Order, { side, key }: Position): RawBuilder<SqlBool> {
  const terms = order.map((term, i) => ({
    expression: term.expression,
    value: fromText(term, key[i] ?? ''),
    rising: term.descending === (side === 'before'),
  }));
  const [first] = terms;
  if (!first) throw new Error('An order needs a term.');
  if (terms.every(({ rising }) => rising === first.rising)) {
    // As a comparison of rows it is one range of the index.
    const expressions = sql.join(terms.map(({ expression }) => expression));
    const values = sql.join(terms.map(({ value }) => value));
    return sql<SqlBool>`(${expressions}) ${first.rising ? sql`>` : sql`<`} (${values})`;
  }
  const past = terms.reduceRight<RawBuilder<SqlBool>>(
    (rest, { expression, value, rising }) =>
      sql<SqlBool>`(${expression} ${rising ? sql`>` : sql`<`} ${value} OR (${expression} = ${value} AND ${rest}))`,
    sql<SqlBool>`false`,
  );
  // Says nothing new, but where the index starts.
  return sql<SqlBool>`(${first.expression} ${first.rising ? sql`>=` : sql`<=`} ${first.value} AND ${past})`;
}

function asText({ kind, expression }: Criterion): RawBuilder<unknown> {
  if (kind === 'text') return expression;
  return sql`to_char(${expression} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`;
}

function fromText({ kind }: Criterion, value: string): RawBuilder<unknown> {
  return kind === 'text' ? sql`${value}::text` : sql`${value}::timestamptz`;
}
