/** When something is to be recorded: from `start` up to `end`. */
export interface Period {
  start: Date;
  end: Date;
}

/** A recording that is to be scheduled, and the title its event has or will have. */
export interface Occurrence extends Period {
  eventId: string;
  title: string;
}

/** What a capture agent is to record for an event. */
export interface Schedule extends Period {
  eventId: string;
  agentId: string;
  /** Inputs of the agent; none when it is to decide. */
  inputs: string[];
}

/** Whether two schedules want the same time of the same agent. */
export function isSamePlace(a: Schedule, b: Schedule): boolean {
  return (
    a.agentId === b.agentId && a.start.getTime() === b.start.getTime() && a.end.getTime() === b.end.getTime()
  );
}
