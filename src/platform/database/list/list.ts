import { type Expression, type SqlBool, sql } from 'kysely';
import type { Queryable } from '../kysely.ts';
import type { Condition, Listing, Order, Serving } from './listing.ts';

/** A test that has to be made in each row. */
export interface Check extends Pick<Condition, 'test' | 'costly' | 'few'> {
  /** Whether an index has its matches among the rows that are served, though not in the order of the list. */
  amongServed?: boolean;
}

/** A listing, with its conditions told apart by what an index does for them. */
export interface List<Shown = unknown> extends Pick<Listing, 'table' | 'order' | 'access'> {
  /** Selects what is shown of the row with an identifier. */
  shown(id: Expression<string>): Expression<Shown>;
  /** What the index of the order serves by itself: walking it meets no other rows. */
  served: readonly Expression<SqlBool>[];
  /** A column that is alike in all rows that are served, and by which their index begins. */
  constant?: Expression<unknown> | undefined;
  /** What has to be looked up in each row, access included; none when all rows that are met belong to the list. */
  checked: readonly Check[];
}

/** Finds out which of the conditions of a listing an index can serve. */
export function listOf<Shown>(database: Queryable, listing: Listing<Shown>): List<Shown> {
  const { table, order, isDefaultOrder, groups, access } = listing;
  const conditions: Condition[] = groups.length > 1 ? [anyOf(groups)] : groups.flat();
  const name = isDefaultOrder ? DEFAULT : onlyCriterion(order);
  const serving = (each: Condition) => (name === undefined ? undefined : servings(each)[name]);
  const value = conditions.find((each) => serving(each) === 'value');
  const isServed = (each: Condition) => each === value || serving(each) === 'stretch';
  const served = conditions.filter(isServed);
  const checked = conditions.filter((each) => !isServed(each));
  return {
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
  return Object.entries(servings(condition)).some(([name, serving]) => serving === 'stretch' && of[name] === 'value');
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
