import { badRequest } from '#platform/http/errors/errors.ts';
import { parseFilters, UNKNOWN_FILTER } from '#platform/http/list/index.ts';
import { CHANGE_KINDS, type Change } from './change.ts';

const MAX_SHOWN = 100;

/** Whether somebody wants to hear of a change. */
export type ChangeFilter = (change: Change) => boolean;

/** What a change is, by the names of filters; in capitals where these do not matter. */
const VALUES: Readonly<Record<string, (change: Change) => readonly (string | null | undefined)[]>> = {
  kind: ({ kind }) => [kind, kind.split('.', 1)[0]],
  event: ({ eventId }) => [eventId],
  series: ({ inSeries }) => [inSeries],
  agent: ({ agentId, data }) => [agentId, text(data.agent)],
  state: ({ data }) => [text(data.state)?.toUpperCase()],
  definition: ({ data }) => [text(data.definition)],
  operation: ({ data }) => [text(data.operation)],
};

/** The names of what changes can be filtered by. */
export const CHANGE_FILTERS: readonly string[] = Object.keys(VALUES);

const KINDS = new Set<string>(CHANGE_KINDS.flatMap((kind) => [kind, kind.split('.', 1)[0] ?? kind]));

/**
 * Reads a filter of changes: `name:value` with commas between them. All names must match, and of a name that is given
 * again any value.
 *
 * @throws {HttpError} 400 for a name or a kind that there is none of
 */
export function parseChangeFilter(filter: string): ChangeFilter {
  const wanted = new Map<string, Set<string>>();
  for (const { name, value } of parseFilters([filter], { colons: true }).flat()) {
    if (!Object.hasOwn(VALUES, name)) throw UNKNOWN_FILTER(name.slice(0, MAX_SHOWN));
    if (name === 'kind' && !KINDS.has(value)) {
      const shown = JSON.stringify(value.slice(0, MAX_SHOWN));
      throw badRequest(`The filter 'kind' is ${shown}; allowed are ${[...KINDS].sort().join(', ')}.`);
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
