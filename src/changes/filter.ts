import { badRequest } from '#platform/http/errors/errors.ts';
import { parseFilters, UNKNOWN_FILTER } from '#platform/http/list/index.ts';
import { CHANGE_KINDS, type Change } from './change.ts';

const MAX_SHOWN = 100;

/** Returns true for a change that matches. */
export type ChangeFilter = (change: Change) => boolean;

/** The values of a change by filter name; upper case for filters that ignore case. */
const VALUES: Readonly<Record<string, (change: Change) => readonly (string | null | undefined)[]>> = {
  kind: ({ kind }) => [kind, kind.split('.', 1)[0]],
  event: ({ eventId }) => [eventId],
  series: ({ inSeries }) => [inSeries],
  agent: ({ agentId, data }) => [agentId, text(data.agent)],
  state: ({ data }) => [text(data.state)?.toUpperCase()],
  definition: ({ data }) => [text(data.definition)],
  operation: ({ data }) => [text(data.operation)],
};

const NAMES = Object.keys(VALUES).map((name) => `\`${name}\``);
/** The description of the filter in the OpenAPI document. */
export const CHANGE_FILTER_HELP = `Comma-separated \`name:value\` pairs, all of which must match; for a repeated name, any value. Names: ${NAMES.join(', ')}.`;

const KINDS = new Set<string>(CHANGE_KINDS.flatMap((kind) => [kind, kind.split('.', 1)[0] ?? kind]));

/**
 * Parses a filter of changes: comma-separated `name:value` pairs. All names must match; for a repeated name, any value.
 *
 * @throws {HttpError} 400 for an unknown name or kind
 */
export function parseChangeFilter(filter: string): ChangeFilter {
  const wanted = new Map<string, Set<string>>();
  for (const { name, value } of parseFilters([filter], { colons: true }).flat()) {
    if (!Object.hasOwn(VALUES, name)) throw UNKNOWN_FILTER(name.slice(0, MAX_SHOWN));
    if (name === 'kind' && !KINDS.has(value)) {
      const shown = JSON.stringify(value.slice(0, MAX_SHOWN));
      throw badRequest(`The filter 'kind' is ${shown}; allowed values: ${[...KINDS].sort().join(', ')}.`);
    }
    const values = wanted.get(name) ?? new Set();
    wanted.set(name, values.add(name === 'state' ? value.toUpperCase() : value));
  }
  const tests = [...wanted].map(([name, values]) => {
    const has = VALUES[name] ?? (() => []);
    return (change: Change) => has(change).some((value) => typeof value === 'string' && values.has(value));
  });
  return (change) => tests.every((test) => test(change));
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
