import type { WorkflowState } from '../workflows/states.ts';

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
