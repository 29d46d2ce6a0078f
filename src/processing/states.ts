/** States of a workflow instance; also the values of an event's `processing_state` beside the empty one. */
export type WorkflowState = 'INSTANTIATED' | 'RUNNING' | 'PAUSED' | 'STOPPED' | 'FAILING' | 'FAILED' | 'SUCCEEDED';

/** States of a workflow operation. */
export type OperationState =
  | 'waiting'
  | 'ready'
  | 'running'
  | 'paused'
  | 'succeeded'
  | 'failed'
  | 'skipped'
  | 'stopped';

/**
 * Every legal move of a workflow; there are no others. What has failed or was stopped goes on when somebody wants it tried
 * again. One that is paused may fail: what was under way ends first.
 */
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
 * Every legal move of an operation. Back to `ready`: another attempt, a lost worker, handed back, or released after a
 * pause. Back to `waiting`: the workflow is tried again. To and from `skipped`: its condition reads another configuration.
 */
export const OPERATION_MOVES: Readonly<Record<OperationState, readonly OperationState[]>> = {
  waiting: ['ready', 'paused', 'stopped', 'skipped'],
  ready: ['running', 'paused', 'stopped'],
  running: ['succeeded', 'failed', 'ready', 'paused', 'stopped'],
  paused: ['succeeded', 'ready', 'waiting', 'stopped'],
  succeeded: ['waiting'],
  failed: ['waiting'],
  skipped: ['waiting'],
  stopped: ['waiting'],
};

/** A change was asked for that the state does not allow. */
export class IllegalMove extends Error {
  override name = 'IllegalMove';
  readonly from: string;
  readonly to: string;
  constructor(from: string, to: string) {
    super(`There is no move from ${from} to ${to}.`);
    this.from = from;
    this.to = to;
  }
}

/** @throws {IllegalMove} */
export function assertMove<S extends string>(moves: Readonly<Record<S, readonly S[]>>, from: S, to: S): void {
  if (!moves[from].includes(to)) throw new IllegalMove(from, to);
}

const ACTIVE: ReadonlySet<string> = new Set<WorkflowState>(['INSTANTIATED', 'RUNNING', 'PAUSED', 'FAILING']);

/** Whether an event in this processing state is being processed, or goes on as soon as somebody lets it. */
export function isActive(processingState: string): boolean {
  return ACTIVE.has(processingState);
}
