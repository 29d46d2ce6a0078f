/** States of a workflow instance, and of an event's `processing_state`, which may also be empty. */
export type WorkflowState = 'INSTANTIATED' | 'RUNNING' | 'PAUSED' | 'STOPPED' | 'FAILING' | 'FAILED' | 'SUCCEEDED';

export type OperationState =
  | 'waiting'
  | 'ready'
  | 'running'
  | 'divided'
  | 'paused'
  | 'succeeded'
  | 'failed'
  | 'skipped'
  | 'stopped';

/** All legal moves of a workflow. A failed or stopped one moves only by a retry. A paused one may fail. */
export const WORKFLOW_MOVES: Readonly<Record<WorkflowState, readonly WorkflowState[]>> = {
  INSTANTIATED: ['RUNNING', 'PAUSED', 'STOPPED'],
  RUNNING: ['PAUSED', 'STOPPED', 'FAILING', 'SUCCEEDED'],
  PAUSED: ['RUNNING', 'STOPPED', 'FAILING'],
  FAILING: ['FAILED', 'STOPPED'],
  STOPPED: ['RUNNING'],
  FAILED: ['RUNNING'],
  SUCCEEDED: [],
};

/**
 * All legal moves of an operation. `divided` while workers run its pieces. Back to `ready`: another attempt, a lost
 * worker, the end of a pause, or no piece left. Back to `waiting`: a retry. To and from `skipped`: another configuration.
 */
export const OPERATION_MOVES: Readonly<Record<OperationState, readonly OperationState[]>> = {
  waiting: ['ready', 'paused', 'stopped', 'skipped'],
  ready: ['running', 'paused', 'stopped'],
  running: ['succeeded', 'failed', 'ready', 'divided', 'paused', 'stopped'],
  divided: ['ready', 'paused', 'stopped', 'waiting'],
  paused: ['succeeded', 'ready', 'waiting', 'stopped'],
  succeeded: ['waiting'],
  failed: ['waiting'],
  skipped: ['waiting'],
  stopped: ['waiting'],
};

/** The state does not allow the requested change. */
export class IllegalMove extends Error {
  override name = 'IllegalMove';
  readonly from: string;
  readonly to: string;
  constructor(from: string, to: string) {
    super(`A move from ${from} to ${to} is not allowed.`);
    this.from = from;
    this.to = to;
  }
}

/** @throws {IllegalMove} */
export function assertMove<S extends string>(moves: Readonly<Record<S, readonly S[]>>, from: S, to: S): void {
  if (!moves[from].includes(to)) throw new IllegalMove(from, to);
}

export const ACTIVE_STATES: readonly WorkflowState[] = ['INSTANTIATED', 'RUNNING', 'PAUSED', 'FAILING'];
const ACTIVE: ReadonlySet<string> = new Set(ACTIVE_STATES);

/** Reports whether an event in this processing state is being processed, or is paused. */
export function isActive(processingState: string): boolean {
  return ACTIVE.has(processingState);
}
