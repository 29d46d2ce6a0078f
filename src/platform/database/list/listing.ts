import { type Expression, type RawBuilder, type SqlBool, sql } from 'kysely';
import type { Queryable } from '../kysely.ts';
import type { DB } from '../schema.ts';

/** A sort criterion: an expression as its index has it. */
export interface Criterion {
  name: string;
  expression: RawBuilder<unknown>;
  kind: 'text' | 'number' | 'instant';
}

export interface Term extends Criterion {
  descending: boolean;
}

/** A total order: the last term differs in every row. */
export type Order = readonly Term[];

/** The position of a row in an order: integers in digits, instants as `2026-04-13T08:15:00.000000Z`. */
export type Key = readonly string[];

/** A position in a list: the rows after that of the key, or those before it. */
export interface Position {
  side: 'after' | 'before';
  key: Key;
}

/** A test that rows of a list must pass. */
export interface Condition {
  test: Expression<SqlBool>;
  /** The same test in a form that finds its matches by indexes, where `test` is for single rows. */
  driver?: Expression<SqlBool> | undefined;
  /** True when finding its matches by an index is expensive even if they are few. */
  costly?: boolean;
  /** True when its matches are few for any value. */
  few?: boolean;
  /** The way an index has the matches in the default order of the list. Without it, every row is tested. */
  inDefaultOrder?: Serving;
  /** The same for the orders of other criteria, by their names. */
  inOrderOf?: Readonly<Record<string, Serving>>;
  column?: Expression<unknown>;
}

/** The way an index has the matches of a condition in an order. */
type Serving = 'value' | 'stretch';

/** Tests a column for a value, where an index has the rows of each value in the default order. */
export function hasValue(column: Expression<unknown>, value: string): Condition {
  // As a list of one. The planner removes a column that it knows to be constant from the order, and may then walk an
  // index of that order alone, past all rows with other values: a long way when many of them come first.
  return { test: sql`${column} = ANY(ARRAY[${value}]::text[])`, inDefaultOrder: 'value', column };
}

/** Tests whether a text, in lower case already, contains all the words. */
export function containsWords(text: Expression<unknown>, words: readonly string[]): RawBuilder<SqlBool> {
  const tests = words.map((word) => {
    const pattern = `%${word.replaceAll(/[\\%_]/g, '\\$&')}%`;
    // Lowered as the text was (sql/0009), and compared as its index compares.
    return sql`${text} LIKE lower(${pattern}::text COLLATE "und-x-icu") COLLATE "default"`;
  });
  return allOf(tests);
}

/** Joins conditions; true without any. */
export function allOf(conditions: readonly Expression<unknown>[]): RawBuilder<SqlBool> {
  if (conditions.length === 0) return sql<SqlBool>`true`;
  return sql<SqlBool>`(${sql.join(conditions, sql` AND `)})`;
}

/** The rows of a table that a list has, their order, and what is shown of each. */
export interface Listing<Shown = unknown> {
  table: keyof DB;
  order: Order;
  /** True when the order is that of the indexes of single values. */
  isDefaultOrder: boolean;
  /** A row is in the list when it passes all conditions of one of the groups; without a group, every row is. */
  groups: readonly (readonly Condition[])[];
  /** A condition for all rows; undefined for a principal that may read everything. */
  access: Expression<SqlBool> | undefined;
  shown(database: Queryable, id: Expression<string>): Expression<Shown>;
}

/** The wanted part of a list. */
export interface Slice {
  /** The start or, for `before`, the end of the part; by default the start of the list. */
  position?: Position | undefined;
  skip: number;
  take: number;
}

/** The number of rows of a list: exact, or a lower bound. */
export interface Total {
  count: number;
  exact: boolean;
}

export interface Entry<Shown> {
  key: Key;
  shown: Shown;
}

export interface Part<Shown = unknown> {
  entries: Entry<Shown>[];
  /** The total of the list, as far as the search has found it. */
  total: Total;
}

export interface Check extends Pick<Condition, 'test' | 'driver' | 'costly' | 'few'> {
  /** True when an index has its matches among the served rows, though not in the order of the list. */
  amongServed?: boolean;
}

/** A listing whose conditions are divided by how an index serves them. */
export interface IndexedList<Shown = unknown> extends Pick<Listing, 'table' | 'order' | 'access'> {
  database: Queryable;
  shown(id: Expression<string>): Expression<Shown>;
  /** The conditions that the index of the order serves: walking it meets no other rows. */
  served: readonly Expression<SqlBool>[];
  /** A column with one value in all served rows. Their index starts with it. */
  constant?: Expression<unknown> | undefined;
  /** The tests that each row needs, access included; empty when every row of the walk belongs to the list. */
  checked: readonly Check[];
}

/** Determines which conditions of a listing an index can serve. */
export function indexedList<Shown>(database: Queryable, listing: Listing<Shown>): IndexedList<Shown> {
  const { table, order, isDefaultOrder, groups, access } = listing;
  const conditions: Condition[] = groups.length > 1 ? [anyOf(table, groups)] : groups.flat();
  const name = isDefaultOrder ? DEFAULT : onlyCriterion(order);
  const serving = (each: Condition) => (name === undefined ? undefined : servings(each)[name]);
  const value = conditions.find((each) => serving(each) === 'value');
  const isServed = (each: Condition) => each === value || serving(each) === 'stretch';
  const served = conditions.filter(isServed);
  const checked = conditions.filter((each) => !isServed(each));
  return {
    database,
    table,
    order,
    access,
    shown: (id) => listing.shown(database, id),
    served: served.map(({ test }) => test),
    constant: value?.column,
    checked: [
      ...(access ? [{ test: access }] : []),
      ...checked.map((each) => ({ ...each, amongServed: value !== undefined && isStretchOf(value, each) })),
    ],
  };
}

/** Stands for the default order; no criterion has this name. */
const DEFAULT = '';

/** Returns the only criterion of an order apart from the identifier; undefined when it has several. */
function onlyCriterion([first, ...others]: Order): string | undefined {
  return others.length === 1 ? first?.name : undefined;
}

function servings({ inDefaultOrder, inOrderOf }: Condition): Readonly<Record<string, Serving>> {
  return { ...inOrderOf, ...(inDefaultOrder && { [DEFAULT]: inDefaultOrder }) };
}

/** Reports whether an index with the matches of a value has them in an order in which the condition is a range. */
function isStretchOf(value: Condition, condition: Condition): boolean {
  const of = servings(value);
  return Object.entries(servings(condition)).some(([name, serving]) => serving === 'stretch' && of[name] === 'value');
}

function anyOf(table: keyof DB, groups: readonly (readonly Condition[])[]): Condition {
  const tests = groups.map((group) => allOf(group.map(({ test }) => test)));
  const hasDriver = groups.flat().some(({ driver }) => driver);
  return {
    test: sql<SqlBool>`(${sql.join(tests, sql` OR `)})`,
    driver: hasDriver ? driverOfAny(table, groups) : undefined,
    costly: groups.flat().some(({ costly }) => costly),
  };
}

/** The planner finds the matches of one group by indexes, but not those of one or another. */
function driverOfAny(table: keyof DB, groups: readonly (readonly Condition[])[]): RawBuilder<SqlBool> {
  const id = sql.ref(`${table}.id`);
  const matches = groups.map((group) => sql`SELECT ${id} FROM ${sql.table(table)} WHERE ${allOf(group.map(driverOf))}`);
  return isAmong(id, sql`${sql.join(matches, sql` UNION ALL `)}`);
}

/** Matches rows with an identifier that a query finds. Reads them by their index, however many the planner expects. */
export function isAmong(id: Expression<unknown>, found: Expression<unknown>): RawBuilder<SqlBool> {
  return sql<SqlBool>`${id} = ANY(ARRAY(${found}))`;
}

/** Returns the form of a test that finds rows by indexes. */
export function driverOf({ test, driver }: Pick<Condition, 'test' | 'driver'>): Expression<SqlBool> {
  return driver ?? test;
}
