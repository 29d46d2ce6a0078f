import type { Condition } from '../../database/list/condition.ts';
import type { FilterPart } from './filter-grammar.ts';

/** What a filter of a list means. */
export interface Filter {
  /** Which values count when a name is given several times: the last one without this. */
  repeated?: 'any' | 'first';
  /** @throws {HttpError} 400 for a value that cannot be read */
  condition(values: readonly [string, ...string[]]): Condition;
}

/**
 * The conditions that the parts of one filter make, all of which must hold.
 *
 * @param find the filter of a name; undefined for a name without effect
 * @throws {HttpError} 400
 */
export function conditionsOf(
  parts: readonly FilterPart[],
  find: (name: string) => Filter | undefined,
): Condition[] {
  const given = new Map<Filter, [string, ...string[]]>();
  for (const { name, value } of parts) {
    const filter = find(name);
    if (!filter) continue;
    const before = given.get(filter);
    if (!before || filter.repeated === undefined) given.set(filter, [value]);
    else if (filter.repeated === 'any') before.push(value);
  }
  return [...given].map(([filter, values]) => filter.condition(values));
}
