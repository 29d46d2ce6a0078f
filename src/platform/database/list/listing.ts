import { type Expression, type RawBuilder, type SqlBool, sql } from 'kysely';
import type { Queryable } from '../kysely.ts';
import type { DB } from '../schema.ts';

/** What a list can be sorted by: an expression as its index has it. */
export interface Criterion {
  name: string;
  expression: RawBuilder<unknown>;
  kind: 'text' | 'number' | 'instant';
}

/** A criterion with its direction. */
export interface Term extends Criterion {
  descending: boolean;
}

/** A total order: the last term is different in every row. */
export type Order = readonly Term[];

/** Where a row stands in an order: the value of each term as text, whole numbers in digits, instants as `2026-04-13T08:15:00.000000Z`. */
export type Key = readonly string[];

/** A place in a list: the rows after that of the key, or those before it. */
export interface Position {
  side: 'after' | 'before';
  key: Key;
}

/** A test that rows of a list must pass. */
export interface Condition {
  test: Expression<SqlBool>;
  /** Whether finding its matches by an index costs much even when there are few. */
  costly?: boolean;
  /** Whether its matches are few, whatever it asks for. */
  few?: boolean;
  /**
   * How an index has the matches in the default order of the list: those of one value, or a stretch of the order
   * itself. Without it, every row has to be looked at.
   */
  inDefaultOrder?: Serving;
  /** The same in the orders of other criteria, by their names. */
  inOrderOf?: Readonly<Record<string, Serving>>;
  /** The column of a value. */
  column?: Expression<unknown>;
}

/** What an index has of the matches of a condition, in an order. */
export type Serving = 'value' | 'stretch';

/** A column that has a value, where an index has the rows of each value in the default order. */
export function hasValue(column: Expression<unknown>, value: string): Condition {
  // As a list of one. A column that the planner knows to be constant it takes out of the order, and then it may walk an
  // index of that order alone, past all rows that have another value: with many of them at its beginning, for long.
  return { test: sql`${column} = ANY(ARRAY[${value}]::text[])`, inDefaultOrder: 'value', column };
}

/** A text, in lower case already, that contains all the words. */
export function containsWords(text: Expression<unknown>, words: readonly string[]): RawBuilder<SqlBool> {
  if (words.length === 0) return sql<SqlBool>`true`;
  const tests = words.map((word) => {
    const pattern = `%${word.replaceAll(/[\\%_]/g, '\\$&')}%`;
    // Lowered as the text was (sql/0009), and compared as its index compares.
    return sql`${text} LIKE lower(${pattern}::text COLLATE "und-x-icu") COLLATE "default"`;
  });
  return sql<SqlBool>`(${sql.join(tests, sql` AND `)})`;
}

/** The rows of a table that a list has, their order, and what is shown of each. */
export interface Listing<Shown = unknown> {
  table: keyof DB;
  order: Order;
  /** Whether the order is that of the indexes of single values. */
  isDefaultOrder: boolean;
  /** A row is in the list when it passes all conditions of one of the groups; without a group, each row does. */
  groups: readonly (readonly Condition[])[];
  /** What holds for all rows; undefined for whoever may see all. */
  access: Expression<SqlBool> | undefined;
  /** Selects what is shown of the row with an identifier. */
  shown(database: Queryable, id: Expression<string>): Expression<Shown>;
}

/** Which part of a list is wanted. */
export interface Slice {
  /** Where to begin or, before it, to end; the start of the list without it. */
  position?: Position | undefined;
  /** Rows to leave out first. */
  skip: number;
  take: number;
}

/** How many rows a list has: exactly, or at least so many. */
export interface Total {
  count: number;
  exact: boolean;
}

/** A row of a list. */
export interface Entry<Shown> {
  key: Key;
  shown: Shown;
}

/** A part of a list. */
export interface Part<Shown = unknown> {
  /** In the order of the list. */
  entries: Entry<Shown>[];
  /** The length of the whole list, as far as finding the part has told it. */
  total: Total;
}
