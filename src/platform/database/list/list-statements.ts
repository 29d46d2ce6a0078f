import { type Expression, type RawBuilder, type SqlBool, sql } from 'kysely';
import type { Criterion, Entry, IndexedList, Key, Order, Part, Position, Slice, Term } from './listing.ts';
import { allOf, driverOf } from './listing.ts';

/** The columns of a key, as `selectKey` names them. */
type Row = Record<`k${number}`, string>;

/** Selects the values of a row's key as columns `k0`, `k1`, ... */
function selectKey(order: Order): RawBuilder<unknown> {
  return sql.join(order.map((term, i) => sql`${asText(term)} AS ${sql.ref(`k${i}`)}`));
}

function asText({ kind, expression }: Criterion): RawBuilder<unknown> {
  if (kind === 'text') return expression;
  if (kind === 'number') return sql`${expression}::text`;
  return sql`to_char(${expression} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`;
}

/** Selects the expressions of an order as columns `s0`, `s1`, ..., and returns the order by these columns. */
function sortColumns(order: Order): { columns: RawBuilder<unknown>; order: Order } {
  const names = order.map((_, i) => sql.ref(`s${i}`));
  return {
    columns: sql.join(order.map(({ expression }, i) => sql`${expression} AS ${names[i]}`)),
    order: order.map((term, i) => ({ ...term, expression: names[i] ?? term.expression })),
  };
}

function orderBy(order: Order, reversed = false): RawBuilder<unknown> {
  const terms = order.map(({ expression, descending }) =>
    descending === reversed ? sql`${expression} ASC` : sql`${expression} DESC`,
  );
  return sql`ORDER BY ${sql.join(terms)}`;
}

/** `ORDER BY` for rows of the table, written so that only the index that serves them matches. */
function servedOrder({ order, constant }: IndexedList, slice: Slice): RawBuilder<unknown> {
  return orderBy([...constantTerm(order, constant), ...order], isReversed(slice));
}

/** The same for any rows of the list. */
function anyOrder({ order, constant }: IndexedList): RawBuilder<unknown> {
  return constant ? orderBy(constantTerm(order, constant)) : sql``;
}

function constantTerm([first]: Order, expression: IndexedList['constant']): Term[] {
  if (!first || !expression) return [];
  return [{ name: '', kind: 'text', expression: sql`${expression}`, descending: first.descending }];
}

function isReversed({ position }: Slice): boolean {
  return position?.side === 'before';
}

function placeOf(order: Order, { position }: Slice): RawBuilder<SqlBool>[] {
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
function withShown({ order, shown }: IndexedList, page: RawBuilder<unknown>): RawBuilder<unknown> {
  const id = sql.ref<string>(`page.k${order.length - 1}`);
  return sql`(${page}) AS page LEFT JOIN LATERAL ${shown(id)} AS shown ON true`;
}

function entryOf<Shown>({ order }: IndexedList<Shown>, row: Row): Entry<Shown> {
  const key = order.map((_, i) => row[`k${i}`] ?? '');
  // The shown columns stand beside those of the key.
  return { key, shown: row as Shown };
}

/** Reads the index of the order from the wanted position on, and counts at most `most` rows of the list. */
export async function readIndex<Shown>(
  list: IndexedList<Shown>,
  slice: Slice,
  most: number,
): Promise<{ entries: Entry<Shown>[]; counted: number | undefined }> {
  const page = sql`
    SELECT ${selectKey(list.order)} FROM ${sql.table(list.table)}
    WHERE ${allOf([...list.served, ...placeOf(list.order, slice)])}
    ${servedOrder(list, slice)} LIMIT ${slice.take} OFFSET ${slice.skip}`;
  const { rows } = await sql<Row & { counted: number }>`
    SELECT *, (SELECT count(*) FROM (
      SELECT FROM ${sql.table(list.table)} WHERE ${allOf(list.served)} ${anyOrder(list)} LIMIT ${most}) AS counted) AS counted
    FROM ${withShown(list, sql`SELECT *, row_number() OVER () AS place FROM (${page}) AS page`)}
    ORDER BY place`.execute(list.database);
  return { entries: rows.map((row) => entryOf(list, row)), counted: rows[0]?.counted };
}

/** The result of a first look at the rows of an order. */
export interface FirstRows<Shown> {
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
export async function readFirstRows<Shown>(
  list: IndexedList<Shown>,
  slice: Slice,
  budget: number,
): Promise<FirstRows<Shown>> {
  const tests = list.checked.map(({ test }) => test);
  const results = tests.map((_, i) => sql.ref(`t${i}`));
  const { columns, order } = sortColumns(list.order);
  const { rows } = await sql<
    Row & { looked: number; matched: number; wanted: boolean; size: number; passed: number[] }
  >`
    WITH walked AS MATERIALIZED (
      SELECT ${columns}, ${sql.join(tests.map((test, i) => sql`${test} AS ${results[i]}`))}
      FROM ${sql.table(list.table)} WHERE ${allOf([...list.served, ...placeOf(list.order, slice)])}
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
    ORDER BY looked`.execute(list.database);
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
export async function walkOrder<Shown>(
  list: IndexedList<Shown>,
  slice: Slice,
  budget: number,
): Promise<Entry<Shown>[]> {
  const { columns, order } = sortColumns(list.order);
  const page = sql`
    SELECT ${selectKey(order)} FROM (
      SELECT ${columns}, ${allOf(list.checked.map(({ test }) => test))} AS fits FROM ${sql.table(list.table)}
      WHERE ${allOf([...list.served, ...placeOf(list.order, slice)])}
      ${servedOrder(list, slice)} LIMIT ${budget}) AS walked
    WHERE fits LIMIT ${slice.take} OFFSET ${slice.skip}`;
  const { rows } = await sql<Row>`
    SELECT * FROM ${withShown(list, sql`SELECT *, row_number() OVER () AS place FROM (${page}) AS page`)}
    ORDER BY place`.execute(list.database);
  return rows.map((row) => entryOf(list, row));
}

/** Returns the number of rows of a list by the planner's estimate. */
export async function estimateRows(list: IndexedList): Promise<number> {
  const tests = [...list.served, ...list.checked.map(driverOf)];
  const { rows } = await sql<{ 'QUERY PLAN': [{ Plan: { 'Plan Rows': number } }] }>`
    EXPLAIN (FORMAT JSON) SELECT FROM ${sql.table(list.table)} WHERE ${allOf(tests)}`.execute(list.database);
  return rows[0]?.['QUERY PLAN'][0].Plan['Plan Rows'] ?? 0;
}

/** Counts how many of at most `most` arbitrary rows are in the list. */
export async function countAmong(list: IndexedList, most: number): Promise<{ looked: number; matched: number }> {
  const { rows } = await sql<{ looked: number; matched: number }>`
    SELECT count(*) AS looked, count(*) FILTER (WHERE fits) AS matched FROM (
      SELECT ${allOf(list.checked.map(({ test }) => test))} AS fits FROM ${sql.table(list.table)}
      WHERE ${allOf(list.served)} ${anyOrder(list)} LIMIT ${most}) AS counted`.execute(list.database);
  return rows[0] ?? { looked: 0, matched: 0 };
}

/** Counts the rows of a list, up to `most`. */
export async function countUpTo(list: IndexedList, most: number): Promise<number> {
  const tests = [...list.served, ...list.checked.map(driverOf)];
  const { rows } = await sql<{ count: number }>`
    SELECT count(*) AS count FROM (
      SELECT FROM ${sql.table(list.table)} WHERE ${allOf(tests)} LIMIT ${most}) AS counted`.execute(list.database);
  return rows[0]?.count ?? 0;
}

export interface Drivers {
  drivers: readonly Expression<SqlBool>[];
  others: readonly Expression<SqlBool>[];
}

/** Finds rows by the indexes of the drivers, makes the other tests in these rows, counts and sorts the matches. */
export async function gather<Shown>(list: IndexedList<Shown>, slice: Slice, tests: Drivers): Promise<Part<Shown>> {
  return (await gatherUpTo(list, slice, tests, undefined)).part;
}

/** The same, but undefined when the drivers find more than `most` rows. `met` is the number they found. */
export async function gatherFew<Shown>(
  list: IndexedList<Shown>,
  slice: Slice,
  { most, ...tests }: Drivers & { most: number },
): Promise<{ met: number; part: Part<Shown> } | undefined> {
  const found = await gatherUpTo(list, slice, tests, most + 1);
  return found.met > most ? undefined : found;
}

async function gatherUpTo<Shown>(
  list: IndexedList<Shown>,
  slice: Slice,
  { drivers, others }: Drivers,
  most: number | undefined,
): Promise<{ met: number; part: Part<Shown> }> {
  const { columns, order } = sortColumns(list.order);
  // Materialized, the query for the rows is planned as if all of them were wanted, but still stops early. Tests in its
  // columns cannot make the planner read one more index.
  const { rows } = await sql<Row & { met: number; count: number; place: number | null }>`
    WITH met AS MATERIALIZED (
      SELECT ${columns}, ${allOf(others)} AS fits FROM ${sql.table(list.table)} WHERE ${allOf(drivers)}),
    gathered AS MATERIALIZED (SELECT * FROM met LIMIT ${most === undefined ? sql`ALL` : sql`${most}`}),
    page AS (
      SELECT ${selectKey(order)}, row_number() OVER () AS place FROM (
        SELECT * FROM gathered WHERE ${allOf([sql<SqlBool>`fits`, ...placeOf(order, slice)])}
        ${orderBy(order, isReversed(slice))} LIMIT ${slice.take} OFFSET ${slice.skip}) AS sorted)
    SELECT * FROM (
      SELECT count(*) AS met, count(*) FILTER (WHERE fits) AS count FROM gathered) AS counted
    LEFT JOIN (${withShown(list, sql`SELECT * FROM page`)}) ON true
    ORDER BY place`.execute(list.database);
  const { met = 0, count = 0 } = rows[0] ?? {};
  const entries = rows.filter(({ place }) => place !== null).map((row) => entryOf(list, row));
  return { met, part: { entries, total: { count, exact: true } } };
}
