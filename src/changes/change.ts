/** The kinds of changes; the first word names the changed resource. */
export const CHANGE_KINDS = [
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
  'agent.state',
  'agent.deleted',
] as const;
export type ChangeKind = (typeof CHANGE_KINDS)[number];

/** A change to record. */
export interface NewChange {
  kind: ChangeKind;
  /** The changed event, or the event of a workflow, operation or publication. */
  eventId?: string | undefined;
  /** The changed series; for an event, omitted unless the event is deleted. */
  seriesId?: string | undefined;
  agentId?: string | undefined;
  /** The account that requested the change; omitted for changes by the service. */
  actor?: string | undefined;
  /** The roles that may read a deleted resource's changes. */
  readRoles?: readonly string[] | undefined;
  /** The details, with the names of the API. */
  data?: Readonly<Record<string, unknown>> | undefined;
}

/** A change as it is read. */
export interface Change {
  /** Its position in the log, from 1 on. */
  number: number;
  at: Date;
  kind: ChangeKind;
  eventId: string | null;
  /** Only for changes of a series itself. */
  seriesId: string | null;
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

/** Returns a change as clients receive it. */
export function changeJson({ eventId, seriesId, agentId, at, data }: Change): Record<string, unknown> {
  return {
    ...(eventId !== null && { event: eventId }),
    ...(seriesId !== null && { series: seriesId }),
    ...(agentId !== null && { agent: agentId }),
    ...data,
    at: at.toISOString(),
  };
}
