import { type Expression, type SqlBool, sql } from 'kysely';
import type { Queryable } from '../kysely.ts';
import {
  all,
  anyOrder,
  entryOf,
  isReversed,
  orderBy,
  placeOf,
  type Row,
  selectKey,
  servedOrder,
  sortColumns,
  withShown,
} from './clauses.ts';
import type { List } from './list.ts';
import type { Entry, Key, Part, Slice } from './listing.ts';

/**
 * Reads the index of the order from the wanted position on.
 *
 * @param most the most rows of the list to count; without rows on the page the count is undefined
 */
export async function readOn<Shown>(
  database: Queryable,
  list: List<Shown>,
  slice: Slice,
  most: number,
): Promise<{ entries: Entry<Shown>[]; counted: number | undefined }> {
  const page = sql`
    SELECT ${selectKey(list.order)} FROM ${sql.table(list.table)}
    WHERE ${all([...list.served, ...placeOf(list.order, slice)])}
    ${servedOrder(list, slice)} LIMIT ${slice.take} OFFSET ${slice.skip}`;
  const { rows } = await sql<Row & { counted: number }>`
    SELECT *, (SELECT count(*) FROM (
      SELECT FROM ${sql.table(list.table)} WHERE ${all(list.served)} ${anyOrder(list)} LIMIT ${most}) AS counted) AS counted
    FROM ${withShown(list, sql`SELECT *, row_number() OVER () AS place FROM (${page}) AS page`)}
    ORDER BY place`.execute(database);
  return { entries: rows.map((row) => entryOf(list, row)), counted: rows[0]?.counted };
}

/** The result of a first look at the rows of an order. */
export interface Look<Shown> {
  /** The entries of the slice. */
  entries: Entry<Shown>[];
  matched: number;
  looked: number;
  /** The number of rows that passed each test. */
  passed: number[];
  /** The last row read, matching or not. */
  last: Key | undefined;
  /** Rows of the table, by the planner's estimate. */
  tableSize: number;
}

/** Reads `budget` rows in their order, makes all tests in each, and keeps those of the slice. */
export async function look<Shown>(
  database: Queryable,
  list: List<Shown>,
  slice: Slice,
  budget: number,
): Promise<Look<Shown>> {
  const tests = list.checked.map(({ test }) => test);
  const results = tests.map((_, i) => sql.ref(`t${i}`));
  const { columns, order } = sortColumns(list.order);
  const { rows } = await sql<
    Row & { looked: number; matched: number; wanted: boolean; size: number; passed: number[] }
  >`
    WITH walked AS MATERIALIZED (
      SELECT ${columns}, ${sql.join(tests.map((test, i) => sql`${test} AS ${results[i]}`))}
      FROM ${sql.table(list.table)} WHERE ${all([...list.served, ...placeOf(list.order, slice)])}
      ${servedOrder(list, slice)} LIMIT ${budget}),
    counted AS (
      SELECT *, row_number() OVER () AS looked, count(*) FILTER (WHERE fits) OVER (ROWS UNBOUNDED PRECEDING) AS matched
      FROM (SELECT *, ${sql.join(results, sql` AND `)} AS fits FROM walked) AS judged),
    marked AS (
      SELECT *, fits AND matched > ${slice.skip} AND matched <= ${slice.skip + slice.take} AS wanted FROM counted)
    SELECT page.*, shown.*,
      (SELECT greatest(reltuples, 0) FROM pg_class WHERE oid = ${list.table}::regclass) AS size,
      (SELECT ARRAY[${sql.join(results.map((result) => sql`count(*) FILTER (WHERE ${result})`))}]::float8[] FROM walked)
        AS passed
    FROM ${withShown(
      list,
      sql`SELECT ${selectKey(order)}, looked, matched, wanted FROM marked
        WHERE wanted OR looked = (SELECT count(*) FROM walked)`,
    )}
    ORDER BY looked`.execute(database);
  const last = rows.at(-1);
  return {
    entries: rows.filter((row) => row.wanted).map((row) => entryOf(list, row)),
    matched: last?.matched ?? 0,
    looked: last?.looked ?? 0,
    passed: last?.passed ?? [],
    last: last && entryOf(list, last).key,
    tableSize: last?.size ?? 0,
  };
}

/** Walks an order until the slice is full, past at most `budget` rows. */
export async function walk<Shown>(
  database: Queryable,
  list: List<Shown>,
  slice: Slice,
  budget: number,
): Promise<Entry<Shown>[]> {
  const { columns, order } = sortColumns(list.order);
  const page = sql`
    SELECT ${selectKey(order)} FROM (
      SELECT ${columns}, ${all(list.checked.map(({ test }) => test))} AS fits FROM ${sql.table(list.table)}
      WHERE ${all([...list.served, ...placeOf(list.order, slice)])}
      ${servedOrder(list, slice)} LIMIT ${budget}) AS walked
    WHERE fits LIMIT ${slice.take} OFFSET ${slice.skip}`;
  const { rows } = await sql<Row>`
    SELECT * FROM ${withShown(list, sql`SELECT *, row_number() OVER () AS place FROM (${page}) AS page`)}
    ORDER BY place`.execute(database);
  return rows.map((row) => entryOf(list, row));
}

/** Returns the number of rows of a list by the planner's estimate. */
export async function estimate(database: Queryable, list: List): Promise<number> {
  const tests = [...list.served, ...list.checked.map(({ test }) => test)];
  const { rows } = await sql<{ 'QUERY PLAN': [{ Plan: { 'Plan Rows': number } }] }>`
    EXPLAIN (FORMAT JSON) SELECT FROM ${sql.table(list.table)} WHERE ${all(tests)}`.execute(database);
  return rows[0]?.['QUERY PLAN'][0].Plan['Plan Rows'] ?? 0;
}

/** Counts how many of at most `most` arbitrary rows are in the list. */
export async function countAmong(
  database: Queryable,
  list: List,
  most: number,
): Promise<{ looked: number; matched: number }> {
  const { rows } = await sql<{ looked: number; matched: number }>`
    SELECT count(*) AS looked, count(*) FILTER (WHERE fits) AS matched FROM (
      SELECT ${all(list.checked.map(({ test }) => test))} AS fits FROM ${sql.table(list.table)}
      WHERE ${all(list.served)} ${anyOrder(list)} LIMIT ${most}) AS counted`.execute(database);
  return rows[0] ?? { looked: 0, matched: 0 };
}

/** The tests of a list, divided. */
export interface Drivers {
  /** Rows are found by these. */
  drivers: readonly Expression<SqlBool>[];
  /** The found rows must also pass these. */
  others: readonly Expression<SqlBool>[];
}

/**
 * Finds rows by the indexes of some tests, the drivers, makes the other tests in these rows, counts and sorts the
 * matches.
 */
export async function gather<Shown>(
  database: Queryable,
  list: List<Shown>,
  slice: Slice,
  tests: Drivers,
): Promise<Part<Shown>> {
  return (await gatherUpTo(database, list, slice, tests, undefined)).part;
}

/** The same, but undefined when the drivers find more than `most` rows. `met` is the number they found. */
export async function gatherFew<Shown>(
  database: Queryable,
  list: List<Shown>,
  slice: Slice,
  { most, ...tests }: Drivers & { most: number },
): Promise<{ met: number; part: Part<Shown> } | undefined> {
  const found = await gatherUpTo(database, list, slice, tests, most + 1);
  return found.met > most ? undefined : found;
}

async function gatherUpTo<Shown>(
  database: Queryable,
  list: List<Shown>,
  slice: Slice,
  { drivers, others }: Drivers,
  most: number | undefined,
): Promise<{ met: number; part: Part<Shown> }> {
  const { columns, order } = sortColumns(list.order);
  // Materialized, the query for the rows is planned as if all of them were wanted, but still stops early. Tests in its
  // columns cannot make the planner read one more index.
  const { rows } = await sql<Row & { met: number; count: number; place: number | null }>`
    WITH met AS MATERIALIZED (
      SELECT ${columns}, ${all(others)} AS fits FROM ${sql.table(list.table)} WHERE ${all(drivers)}),
    gathered AS MATERIALIZED (SELECT * FROM met LIMIT ${most === undefined ? sql`ALL` : sql`${most}`}),
    page AS (
      SELECT ${selectKey(order)}, row_number() OVER () AS place FROM (
        SELECT * FROM gathered WHERE ${all([sql<SqlBool>`fits`, ...placeOf(order, slice)])}
        ${orderBy(order, isReversed(slice))} LIMIT ${slice.take} OFFSET ${slice.skip}) AS sorted)
    SELECT * FROM (
      SELECT count(*) AS met, count(*) FILTER (WHERE fits) AS count FROM gathered) AS counted
    LEFT JOIN (${withShown(list, sql`SELECT * FROM page`)}) ON true
    ORDER BY place`.execute(database);
  const { met = 0, count = 0 } = rows[0] ?? {};
  const entries = rows.filter(({ place }) => place !== null).map((row) => entryOf(list, row));
  return { met, part: { entries, total: { count, exact: true } } };
}
