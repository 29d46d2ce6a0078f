import { type Expression, type RawBuilder, type SqlBool, sql } from 'kysely';
import type { Check, List } from './list.ts';
import type { Order } from './order.ts';

/** A test that rows of a list must pass. */
export interface Condition extends Check {
  /**
   * How an index has the matches in the default order of the list: those of one value, or a stretch of the order
   * itself. Without it, every row has to be looked at.
   */
  inDefaultOrder?: 'value' | 'stretch';
}

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

/** Makes a list, and finds out which of the conditions an index can serve. */
export function listOf<Shown>({ isDefaultOrder, groups, access, ...rest }: ListParts<Shown>): List<Shown> {
  const conditions: Condition[] = groups.length > 1 ? [anyOf(groups)] : groups.flat();
  const value = conditions.find(({ inDefaultOrder }) => inDefaultOrder === 'value');
  const isServed = (each: Condition) =>
    isDefaultOrder && (each === value || each.inDefaultOrder === 'stretch');
  const served = conditions.filter(isServed);
  const checked = conditions.filter((each) => !isServed(each));
  return {
    ...rest,
    access,
    served: served.map(({ test }) => test),
    checked: [...(access ? [{ test: access }] : []), ...checked],
  };
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
