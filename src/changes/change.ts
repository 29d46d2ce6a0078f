/** What a change tells of. The first word is what it happened to. */
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

/** A change as it is written down. */
export interface NewChange {
  kind: ChangeKind;
  /** Identifier of what it happened to; of a workflow, an operation or a publication that is the event. */
  eventId?: string | undefined;
  /** Identifier of the series that it happened to; of an event, the series that one is of is left out unless it is gone. */
  seriesId?: string | undefined;
  agentId?: string | undefined;
  /** The account that asked for it; left out for what the service does by itself. */
  actor?: string | undefined;
  /** Who may hear of what is gone now. */
  readRoles?: readonly string[] | undefined;
  /** The facts, in the words of the API. */
  data?: Readonly<Record<string, unknown>> | undefined;
}

/** A change as readers get it. */
export interface Change {
  /** Its place in the log, from 1 on. */
  number: number;
  at: Date;
  kind: ChangeKind;
  eventId: string | null;
  /** Only of what happened to a series itself. */
  seriesId: string | null;
  agentId: string | null;
  actor: string;
  data: Readonly<Record<string, unknown>>;
  /**
   * The roles that may read what it is about, as they are now or, if that is gone, were at its end, whatever has its
   * identifier now; null where no access control list says it, as for capture agents.
   */
  readRoles: readonly string[] | null;
  /** The series that it is about, or that its event belonged to then. */
  inSeries: string | null;
}

/** What clients are told of a change: what it is about, and its facts. */
export function changeJson({ eventId, seriesId, agentId, at, data }: Change): Record<string, unknown> {
  return {
    ...(eventId !== null && { event: eventId }),
    ...(seriesId !== null && { series: seriesId }),
    ...(agentId !== null && { agent: agentId }),
    ...data,
    at: at.toISOString(),
  };
}
