import type { Criterion, Order, Term } from '../../database/list/index.ts';
import { badRequest } from '../errors/errors.ts';
import { refusal } from '../errors/refusal.ts';

export interface SortPart {
  name: string;
  descending: boolean;
}

const MAX_SHOWN = 200;

export const UNKNOWN_SORT = refusal(400, (name: string) => `Unknown sort criterion in request: ${name}`, ['colour']);

const DIRECTIONS = new Map([
  ['asc', false],
  ['ascending', false],
  ['desc', true],
  ['descending', true],
]);

/**
 * Parses `sort`: `name:ASC` or `name:DESC`, separated by commas. Only the first mention of a name counts.
 *
 * @throws {HttpError} 400 for a criterion without a direction
 */
export function parseSort(sort: string | undefined): SortPart[] {
  const parts = new Map<string, SortPart>();
  for (const part of (sort ?? '').split(',')) {
    if (part.trim() === '') continue;
    const [name = '', direction = '', ...more] = part.split(':').map((word) => word.trim());
    const descending = DIRECTIONS.get(direction.toLowerCase());
    if (name === '' || descending === undefined || more.length > 0) {
      throw badRequest(
        `The sort criterion ${JSON.stringify(part.slice(0, MAX_SHOWN))} is not of the form name:ASC or name:DESC.`,
      );
    }
    if (!parts.has(name)) parts.set(name, { name, descending });
  }
  return [...parts.values()];
}

/** The sort criteria of a list. */
export interface Sorts {
  /** By public name; null is accepted without effect. */
  criteria: Readonly<Record<string, Criterion | null>>;
  /** The default order; by identifier if absent. */
  standard?: Term;
  /** Unique for each row. */
  identifier: Criterion;
}

/**
 * Returns the requested order, or the default. Ties are ordered by identifier, in the direction of the first criterion.
 *
 * @throws {HttpError} 400 for an unknown criterion
 */
export function orderOf(parts: readonly SortPart[], { criteria, standard, identifier }: Sorts): Order {
  const terms: Term[] = [];
  for (const { name, descending } of parts) {
    const criterion = Object.hasOwn(criteria, name) ? criteria[name] : undefined;
    if (criterion === undefined) {
      throw UNKNOWN_SORT(name.slice(0, MAX_SHOWN));
    }
    const known = terms.some((term) => term.name === criterion?.name);
    if (criterion && !known) terms.push({ ...criterion, descending });
  }
  const [first = standard, ...others] = terms;
  if (!first) return [{ ...identifier, descending: false }];
  return [first, ...others, { ...identifier, descending: first.descending }];
}

/** Returns true for the default criterion alone, in either direction. */
export function isStandard(order: Order, { standard }: Sorts): boolean {
  return order.length === 2 && order[0]?.name === standard?.name;
}
