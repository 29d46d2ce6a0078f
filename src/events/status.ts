import { WORKFLOW_MOVES, type WorkflowState } from '../workflows/states.ts';

const PREFIX = 'EVENTS.EVENTS.STATUS.';

const OF_WORKFLOW: Readonly<Record<WorkflowState, string>> = {
  INSTANTIATED: 'PENDING',
  RUNNING: 'PROCESSING',
  FAILING: 'PROCESSING',
  PAUSED: 'PAUSED',
  SUCCEEDED: 'PROCESSED',
  FAILED: 'PROCESSING_FAILURE',
  STOPPED: 'PROCESSING_CANCELLED',
};

/** The technical status of an event, as clients compare it (compatibility 3.2). */
export function eventStatus(processingState: string): string {
  return PREFIX + (OF_WORKFLOW[processingState as WorkflowState] ?? 'PROCESSED');
}

const STATES = ['', ...Object.keys(WORKFLOW_MOVES)];

/** The processing states of the events that have a technical status; none for what is no status. */
export function statesOf(status: string): string[] {
  return STATES.filter((state) => eventStatus(state) === status);
}
