import { type Expression, type RawBuilder, type SqlBool, sql } from 'kysely';
import type { Queryable } from '../kysely.ts';
import type { List, Part, Slice } from './list.ts';
import { beyond, type Key, type Order, orderBy, selectKey } from './order.ts';

type Row = Record<`k${number}`, string>;

/** Reads the index of the order from the wanted place on. */
export async function readOn(database: Queryable, list: List, slice: Slice): Promise<Key[]> {
  const { rows } = await sql<Row>`
    SELECT ${selectKey(list.order)} FROM ${sql.table(list.table)}
    WHERE ${all([...list.served, ...placeOf(list.order, slice)])}
    ${orderBy(list.order, isReversed(slice))} LIMIT ${slice.take} OFFSET ${slice.skip}`.execute(database);
  return rows.map((row) => keyOf(list, row));
}

/** What walking some rows of an order has met. */
export interface Walked {
  /** Those of the slice. */
  keys: Key[];
  matched: number;
  looked: number;
  /** How many rows passed each of the tests. */
  passed: number[];
  /** The last row looked at, whether it matched or not. */
  last: Key | undefined;
  /** Rows of the table, by the planner's estimate. */
  tableSize: number;
}

/** Looks at so many rows in their order, and keeps those of the slice that pass all the tests. */
export async function walk(
  database: Queryable,
  list: List,
  slice: Slice,
  { tests, budget }: { tests: readonly Expression<SqlBool>[]; budget: number },
): Promise<Walked> {
  const results = tests.map((_, i) => sql.ref(`t${i}`));
  const { columns, order } = sortColumns(list.order);
  const { rows } = await sql<
    Row & { looked: number; matched: number; wanted: boolean; size: number; passed: number[] }
  >`
    WITH walked AS MATERIALIZED (
      SELECT ${columns}, ${sql.join(tests.map((test, i) => sql`${test} AS ${results[i]}`))}
      FROM ${sql.table(list.table)} WHERE ${all([...list.served, ...placeOf(list.order, slice)])}
      ${orderBy(list.order, isReversed(slice))} LIMIT ${budget}),
    counted AS (
      SELECT *, row_number() OVER () AS looked, count(*) FILTER (WHERE fits) OVER (ROWS UNBOUNDED PRECEDING) AS matched
      FROM (SELECT *, ${sql.join(results, sql` AND `)} AS fits FROM walked) AS judged),
    marked AS (
      SELECT *, fits AND matched > ${slice.skip} AND matched <= ${slice.skip + slice.take} AS wanted FROM counted)
    SELECT ${selectKey(order)}, looked, matched, wanted,
      (SELECT greatest(reltuples, 0) FROM pg_class WHERE oid = ${list.table}::regclass) AS size,
      (SELECT ARRAY[${sql.join(results.map((result) => sql`count(*) FILTER (WHERE ${result})`))}]::float8[] FROM walked)
        AS passed
    FROM marked WHERE wanted OR looked = (SELECT count(*) FROM walked)
    ORDER BY looked`.execute(database);
  const last = rows.at(-1);
  return {
    keys: rows.filter((row) => row.wanted).map((row) => keyOf(list, row)),
    matched: last?.matched ?? 0,
    looked: last?.looked ?? 0,
    passed: last?.passed ?? [],
    last: last && keyOf(list, last),
    tableSize: last?.size ?? 0,
  };
}

/**
 * Finds the matches by the indexes of some tests, the drivers, makes the other ones in their rows, counts what is left
 * and sorts it.
 *
 * @param most gives up when the drivers leave more rows
 */
export async function gather(
  database: Queryable,
  list: List,
  slice: Slice,
  {
    drivers,
    others,
    most,
  }: { drivers: readonly Expression<SqlBool>[]; others: readonly Expression<SqlBool>[]; most?: number },
): Promise<Part | undefined> {
  const { columns, order } = sortColumns(list.order);
  // Materialized, the query for the rows is planned as if all of them were wanted, and stops all the same. What is
  // tested in its columns cannot tempt the planner to read one more index.
  const { rows } = await sql<Row & { met: number; count: number; place: number | null }>`
    WITH met AS MATERIALIZED (
      SELECT ${columns}, ${all(others)} AS fits FROM ${sql.table(list.table)}
      WHERE ${all([...list.served, ...drivers])}),
    gathered AS MATERIALIZED (SELECT * FROM met LIMIT ${most === undefined ? sql`ALL` : sql`${most + 1}`}),
    page AS (
      SELECT ${selectKey(order)}, row_number() OVER () AS place FROM (
        SELECT * FROM gathered WHERE ${all([sql<SqlBool>`fits`, ...placeOf(order, slice)])}
        ${orderBy(order, isReversed(slice))} LIMIT ${slice.take} OFFSET ${slice.skip}) AS sorted)
    SELECT page.*, counted.* FROM (
      SELECT count(*) AS met, count(*) FILTER (WHERE fits) AS count FROM gathered) AS counted LEFT JOIN page ON true
    ORDER BY place`.execute(database);
  const { met = 0, count = 0 } = rows[0] ?? {};
  if (most !== undefined && met > most) return undefined;
  const keys = rows.filter(({ place }) => place !== null).map((row) => keyOf(list, row));
  return { keys, total: { count, exact: true } };
}

/** How many of so many rows, any ones, are in the list. */
export async function countAmong(
  database: Queryable,
  list: List,
  most: number,
): Promise<{ looked: number; matched: number }> {
  const { rows } = await sql<{ looked: number; matched: number }>`
    SELECT count(*) AS looked, count(*) FILTER (WHERE fits) AS matched FROM (
      SELECT ${all(list.checked.map(({ test }) => test))} AS fits FROM ${sql.table(list.table)}
      WHERE ${all(list.served)} LIMIT ${most}) AS counted`.execute(database);
  return rows[0] ?? { looked: 0, matched: 0 };
}

function all(conditions: readonly Expression<SqlBool>[]): RawBuilder<SqlBool> {
  if (conditions.length === 0) return sql<SqlBool>`true`;
  return sql<SqlBool>`(${sql.join(conditions, sql` AND `)})`;
}

/** What an order sorts by, as columns `s0`, `s1`, ...; and the order of a query that has these. */
function sortColumns(order: Order): { columns: RawBuilder<unknown>; order: Order } {
  const names = order.map((_, i) => sql.ref(`s${i}`));
  return {
    columns: sql.join(order.map(({ expression }, i) => sql`${expression} AS ${names[i]}`)),
    order: order.map((term, i) => ({ ...term, expression: names[i] ?? term.expression })),
  };
}

function placeOf(order: Order, { position }: Slice): RawBuilder<SqlBool>[] {
  return position ? [beyond(order, position)] : [];
}

function isReversed({ position }: Slice): boolean {
  return position?.side === 'before';
}

function keyOf({ order }: List, row: Row): Key {
  return order.map((_, i) => row[`k${i}`] ?? '');
}
