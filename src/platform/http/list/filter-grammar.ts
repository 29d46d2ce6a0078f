import { badRequest } from '../errors/errors.ts';

export interface FilterPart {
  name: string;
  value: string;
}

const MAX_FILTERS = 50;
const MAX_PARTS = 1000;

/**
 * Parses `filter` parameters, each a list of `name:value` separated by commas, without escapes. Parts without a value
 * and empty filters are ignored (compatibility 3.3).
 *
 * @param colons true if values may hold colons; else a value ends at the first one
 * @throws {HttpError} 400 for too many filters
 */
export function parseFilters(filters: readonly string[], { colons }: { colons: boolean }): FilterPart[][] {
  const parsed = filters.map((filter) => parseFilter(filter, colons)).filter((parts) => parts.length > 0);
  if (parsed.length > MAX_FILTERS) {
    throw badRequest(`The parameter 'filter' is given ${parsed.length} times; allowed is ${MAX_FILTERS} times.`);
  }
  const parts = parsed.reduce((sum, { length }) => sum + length, 0);
  if (parts > MAX_PARTS) {
    throw badRequest(`The parameter 'filter' has ${parts} criteria; allowed are ${MAX_PARTS}.`);
  }
  return parsed;
}

function parseFilter(filter: string, colons: boolean): FilterPart[] {
  return filter.split(',').flatMap((part) => {
    const colon = part.indexOf(':');
    if (colon < 0) return [];
    const name = part.slice(0, colon);
    const rest = part.slice(colon + 1);
    const value = colons ? rest : (rest.split(':', 1)[0] ?? '');
    return value === '' ? [] : [{ name, value }];
  });
}
