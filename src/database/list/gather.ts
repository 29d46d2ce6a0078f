import { type Expression, type SqlBool, sql } from 'kysely';
import type { Queryable } from '../kysely.ts';
import { all, entryOf, isReversed, placeOf, type Row, sortColumns, withShown } from './clauses.ts';
import type { List, Part, Slice } from './list.ts';
import { orderBy, selectKey } from './order.ts';

/** The tests of a list, divided. */
export interface Drivers {
  /** To find rows by. */
  drivers: readonly Expression<SqlBool>[];
  /** To make in the rows found. */
  others: readonly Expression<SqlBool>[];
}

/**
 * Finds rows by the indexes of some tests, the drivers, makes the other ones in these rows, counts what is left and
 * sorts it.
 */
export async function gather<Shown>(
  database: Queryable,
  list: List<Shown>,
  slice: Slice,
  tests: Drivers,
): Promise<Part<Shown>> {
  return (await gatherUpTo(database, list, slice, tests, undefined)).part;
}

/** The same, given up when the drivers leave more than `most` rows; and how many they left. */
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
  // Materialized, the query for the rows is planned as if all of them were wanted, and stops all the same. What is
  // tested in its columns cannot tempt the planner to read one more index.
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
