import { type Expression, type RawBuilder, type SqlBool, sql } from 'kysely';
import type { Check, List } from './list.ts';
import type { Order } from './order.ts';

/** A test that rows of a list must pass. */
export interface Condition extends Check {
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

type Serving = 'value' | 'stretch';

/** What makes a list of a table. */
export interface ListParts<Shown> {
  table: List['table'];
  order: Order;
  shown: List<Shown>['shown'];
  /** Whether the order is that of the indexes of single values. */
  isDefaultOrder: boolean;
  /** A row is in the list when it passes all conditions of one of the groups; without a group, each row does. */
  groups: readonly (readonly Condition[])[];
  /** What holds for all rows; undefined for whoever may see all. */
  access: Expression<SqlBool> | undefined;
}

/** A column that has a value, where an index has the rows of each value in the default order. */
export function hasValue(column: Expression<unknown>, value: string): Condition {
  // As a list of one. A column that the planner knows to be constant it takes out of the order, and then it may walk an
  // index of that order alone, past all rows that have another value: with many of them at its beginning, for long.
  return { test: sql`${column} = ANY(ARRAY[${value}]::text[])`, inDefaultOrder: 'value', column };
}

/** Makes a list, and finds out which of the conditions an index can serve. */
export function listOf<Shown>({ isDefaultOrder, groups, access, ...rest }: ListParts<Shown>): List<Shown> {
  const conditions: Condition[] = groups.length > 1 ? [anyOf(groups)] : groups.flat();
  const name = isDefaultOrder ? DEFAULT : onlyCriterion(rest.order);
  const serving = (each: Condition) => (name === undefined ? undefined : servings(each)[name]);
  const value = conditions.find((each) => serving(each) === 'value');
  const isServed = (each: Condition) => each === value || serving(each) === 'stretch';
  const served = conditions.filter(isServed);
  const checked = conditions.filter((each) => !isServed(each));
  return {
    ...rest,
    access,
    served: served.map(({ test }) => test),
    constant: value?.column,
    checked: [
      ...(access ? [{ test: access }] : []),
      ...checked.map((each) => ({ ...each, amongServed: value !== undefined && isStretchOf(value, each) })),
    ],
  };
}

/** Stands for the default order; no criterion is called so. */
const DEFAULT = '';

/** The name of what a list is sorted by, apart from the identifier; undefined when it is more than one thing. */
function onlyCriterion([first, ...others]: Order): string | undefined {
  return others.length === 1 ? first?.name : undefined;
}

function servings({ inDefaultOrder, inOrderOf }: Condition): Readonly<Record<string, Serving>> {
  return { ...inOrderOf, ...(inDefaultOrder && { [DEFAULT]: inDefaultOrder }) };
}

/** Whether an index that has the matches of a value has them in an order of which a condition is a stretch. */
function isStretchOf(value: Condition, condition: Condition): boolean {
  const of = servings(value);
  return Object.entries(servings(condition)).some(
    ([name, serving]) => serving === 'stretch' && of[name] === 'value',
  );
}

function anyOf(groups: readonly (readonly Condition[])[]): Condition {
  const tests = groups.map(
    (group) =>
      sql`(${sql.join(
        group.map(({ test }) => test),
        sql` AND `,
      )})`,
  );
  return {
    test: sql<SqlBool>`(${sql.join(tests, sql` OR `)})`,
    costly: groups.flat().some(({ costly }) => costly),
  };
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
