import { badRequest } from '#platform/http/errors/errors.ts';
import { parseFilters, UNKNOWN_FILTER } from '#platform/http/list/index.ts';

/** The kinds of changes; the first word names the changed resource. */
const CHANGE_KINDS = [
  'event.created',
  'event.changed',
  'event.scheduled',
  'event.recording',
  'event.deleted',
  'workflow.state',
  'workflow.deleted',
  'operation.state',
  'operation.progress',
  'publication.published',
  'publication.retracted',
  'series.created',
  'series.changed',
  'series.deleted',
  'playlist.created',
  'playlist.changed',
  'playlist.deleted',
  'agent.state',
  'agent.deleted',
] as const;
type ChangeKind = (typeof CHANGE_KINDS)[number];

export interface NewChange {
  kind: ChangeKind;
  /** The changed event, or the event of a workflow, operation or publication. */
  eventId?: string | undefined;
  /** The changed series; for an event, omitted unless the event is deleted. */
  seriesId?: string | undefined;
  playlistId?: string | undefined;
  agentId?: string | undefined;
  /** The account that requested the change; omitted for changes by the service. */
  actor?: string | undefined;
  /** The roles that may read a deleted resource's changes. */
  readRoles?: readonly string[] | undefined;
  data?: Readonly<Record<string, unknown>> | undefined;
}

export interface Change {
  /** Its position in the log, from 1 on. */
  number: number;
  at: Date;
  kind: ChangeKind;
  eventId: string | null;
  /** Only for changes of a series itself. */
  seriesId: string | null;
  playlistId: string | null;
  agentId: string | null;
  actor: string;
  data: Readonly<Record<string, unknown>>;
  /**
   * The roles that may read the resource now or, if it is deleted, could read it last; a new resource with the same
   * identifier does not count. Null for resources without an ACL, such as capture agents.
   */
  readRoles: readonly string[] | null;
  /** The changed series, or the series of the event at that time. */
  inSeries: string | null;
}

export function changeJson({ eventId, seriesId, playlistId, agentId, at, data }: Change): Record<string, unknown> {
  return {
    ...(eventId !== null && { event: eventId }),
    ...(seriesId !== null && { series: seriesId }),
    ...(playlistId !== null && { playlist: playlistId }),
    ...(agentId !== null && { agent: agentId }),
    ...data,
    at: at.toISOString(),
  };
}

const MAX_SHOWN = 100;

export type ChangeFilter = (change: Change) => boolean;

/** The values of a change by filter name; upper case for filters that ignore case. */
const VALUES: Readonly<Record<string, (change: Change) => readonly (string | null | undefined)[]>> = {
  kind: ({ kind }) => [kind, kind.split('.', 1)[0]],
  event: ({ eventId }) => [eventId],
  series: ({ inSeries }) => [inSeries],
  playlist: ({ playlistId }) => [playlistId],
  agent: ({ agentId, data }) => [agentId, text(data.agent)],
  state: ({ data }) => [text(data.state)?.toUpperCase()],
  definition: ({ data }) => [text(data.definition)],
  operation: ({ data }) => [text(data.operation)],
};

const NAMES = Object.keys(VALUES).map((name) => `\`${name}\``);
/** The description of the filter in the OpenAPI document. */
export const CHANGE_FILTER_HELP = `Comma-separated \`name:value\` pairs, all of which must match; for a repeated name, any value. Names: ${NAMES.join(', ')}.`;

const KINDS = new Set<string>(CHANGE_KINDS.flatMap((kind) => [kind, kind.split('.', 1)[0] ?? kind]));

/** Parses comma-separated `name:value` pairs. @throws {HttpError} 400 for an unknown name or kind */
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
