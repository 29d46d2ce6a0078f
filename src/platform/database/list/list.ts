import { type Expression, type SqlBool, sql } from 'kysely';
import type { Queryable } from '../kysely.ts';
import type { Condition, Listing, Order, Serving } from './listing.ts';

/** A test that each row needs. */
export interface Check extends Pick<Condition, 'test' | 'costly' | 'few'> {
  /** True when an index has its matches among the served rows, though not in the order of the list. */
  amongServed?: boolean;
}

/** A listing whose conditions are divided by how an index serves them. */
export interface List<Shown = unknown> extends Pick<Listing, 'table' | 'order' | 'access'> {
  /** Selects what is shown of the row with an identifier. */
  shown(id: Expression<string>): Expression<Shown>;
  /** The conditions that the index of the order serves: walking it meets no other rows. */
  served: readonly Expression<SqlBool>[];
  /** A column with one value in all served rows. Their index starts with it. */
  constant?: Expression<unknown> | undefined;
  /** The tests that each row needs, access included; empty when every row of the walk belongs to the list. */
  checked: readonly Check[];
}

/** Determines which conditions of a listing an index can serve. */
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
