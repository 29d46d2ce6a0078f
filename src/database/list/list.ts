import type { Expression, SqlBool } from 'kysely';
import type { Key, Order, Position } from './order.ts';

/** A test that has to be made in each row. */
export interface Check {
  test: Expression<SqlBool>;
  /** Whether finding its matches by an index costs much even when there are few. */
  costly?: boolean;
  /** Whether its matches are few, whatever it asks for. */
  few?: boolean;
  /** Whether an index has its matches among the rows that are served, though not in the order of the list. */
  amongServed?: boolean;
}

/** A sorted and filtered table, with what is shown of each row. */
export interface List<Shown = unknown> {
  table: 'events' | 'series' | 'capture_agents';
  /** Ends with the identifier. */
  order: Order;
  /** Selects what is shown of the row with an identifier. */
  shown(id: Expression<string>): Expression<Shown>;
  /** What the index of the order serves by itself: walking it meets no other rows. */
  served: readonly Expression<SqlBool>[];
  /** A column that is alike in all rows that are served, and by which their index begins. */
  constant?: Expression<unknown> | undefined;
  /** What the rows somebody may see have in common, also among the tests; undefined for whoever may see all. */
  access?: Expression<SqlBool> | undefined;
  /** What has to be looked up in each row; none when all rows that are met belong to the list. */
  checked: readonly Check[];
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
