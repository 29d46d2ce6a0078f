import type { Criterion, Order, Term } from '../../database/list/index.ts';
import { badRequest } from '../errors/errors.ts';
import { refusal } from '../errors/refusal.ts';

/** One sort criterion as the client wrote it. */
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
 * Reads the parameter `sort`: `name:ASC` or `name:DESC`, several separated by commas, the first one above all others.
 * Of a name given again only the first counts, since the others cannot change anything.
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

/** What a list can be sorted by. */
export interface Sorts {
  /** By the names clients use; null is accepted without effect. */
  criteria: Readonly<Record<string, Criterion | null>>;
  /** The order of a list nobody has sorted: by the identifier without this. */
  standard?: Term;
  /** What is different in every row. */
  identifier: Criterion;
}

/**
 * The order a client wants, or the standard one. Rows that are alike in all criteria follow their identifiers, in the
 * direction of the first criterion.
 *
 * @throws {HttpError} 400 for a criterion that is none
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

/** Whether an order is that of the standard criterion alone, in either direction. */
export function isStandard(order: Order, { standard }: Sorts): boolean {
  return order.length === 2 && order[0]?.name === standard?.name;
}
