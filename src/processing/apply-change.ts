import { withdrawUnwanted } from './early-publication.ts';
import { type LockedWorkflow, notifyTaken } from './locked-workflow.ts';
import type { Step } from './operation-queries.ts';
import { divide, dropPieces, endPiece, holdPieces, startPieces } from './pieces.ts';
import { prepareRetry } from './retry-workflow.ts';
import type { Change, Ending } from './workflow-change.ts';
import { compileCondition, PAUSE } from './workflow-definition.ts';
import { IllegalMove, isActive } from './workflow-states.ts';

/**
 * Makes a change to a locked workflow; its `save` writes it.
 *
 * @throws {ClaimLost} when the operation is not held under the change's fencing token
 * @throws {IllegalMove} when the state does not allow the change
 * @throws {HttpError} 409 when a retry was requested but the event has a later workflow
 */
export async function applyChange(workflow: LockedWorkflow, change: Change): Promise<void> {
  switch (change.kind) {
    case 'started':
      workflow.start();
      return scheduleNext(workflow);
    case 'claimed':
      // The configuration may have changed during an early publication.
      await withdrawUnwanted(workflow);
      return claim(workflow, workflow.claimableStep(change.operationId), change.worker);
    case 'resumed':
      return resume(workflow);
    case 'paused':
      return pause(workflow);
    case 'stopped':
      return stop(workflow);
    case 'tried again':
      if (change.configuration) workflow.configure(change.configuration);
      await withdrawUnwanted(workflow);
      return tryAgain(workflow);
    case 'configured':
      workflow.configure(change.configuration);
      // A finished workflow uses it when it is retried.
      if (!isActive(workflow.state)) return;
      await withdrawUnwanted(workflow);
      applyConditions(workflow);
      await dropUnusedPieces(workflow);
      return holdNextIfPaused(workflow);
    default: {
      const step = workflow.heldStep(change);
      workflow.releaseClaim(step, change);
      if (change.kind !== 'divided' && step.parentId === null) return endClaim(workflow, step, change);
      return change.kind === 'divided' ? divide(workflow, step, change.pieces) : endPiece(workflow, step);
    }
  }
}

function claim(workflow: LockedWorkflow, step: Step, worker: string): void {
  workflow.claim(step, worker);
  if (workflow.state === 'INSTANTIATED') workflow.move('RUNNING');
  // Pieces would fill the log of changes.
  if (step.parentId === null) workflow.recordStep(step, step.waitedMs === null ? {} : { waited_ms: step.waitedMs });
}

async function endClaim(
  workflow: LockedWorkflow,
  step: Step,
  change: Exclude<Ending, { kind: 'divided' }>,
): Promise<void> {
  const isFinal = change.kind === 'succeeded' || change.kind === 'failed';
  if (step.hasPieces && isFinal) await dropPieces(workflow);
  const reason = 'reason' in change && { reason: change.reason };
  workflow.recordStep(step, change.kind === 'succeeded' ? { progress: 1 } : { ...reason });
  if (change.kind === 'succeeded' || (change.kind === 'failed' && step.optional)) scheduleNext(workflow);
  else if (change.kind === 'failed') fail(workflow, change.reason);
}

/** Drops the pieces of an operation that will not run. */
async function dropUnusedPieces(workflow: LockedWorkflow): Promise<void> {
  if (workflow.steps.some(({ hasPieces, state }) => hasPieces && state === 'skipped')) await dropPieces(workflow);
}

/** Makes the next operation ready, holds it, or finishes the workflow. */
function scheduleNext(workflow: LockedWorkflow): void {
  const onFailure = workflow.state === 'FAILING';
  const step = workflow.nextStep({ onFailure });
  // Without a next operation, a paused workflow finishes when it is resumed.
  if (workflow.state === 'PAUSED') holdBack(workflow, step);
  else if (!step) finish(workflow);
  else if (step.operation !== PAUSE) workflow.makeReady(step);
  else {
    workflow.hold(step);
    workflow.move('PAUSED');
  }
}

function finish(workflow: LockedWorkflow): void {
  if (workflow.state === 'FAILING') {
    workflow.move('FAILED');
    return;
  }
  workflow.moveAll(['waiting'], 'skipped', { onFailure: true, values: { finished_at: null } });
  workflow.ensureState('RUNNING');
  workflow.move('SUCCEEDED');
}

/** Starts the operations for a failure; when one of those fails, the rest are stopped. */
function fail(workflow: LockedWorkflow, reason: string): void {
  workflow.moveAll(['waiting'], 'stopped', { onFailure: workflow.state === 'FAILING' });
  if (workflow.state !== 'FAILING') workflow.move('FAILING', reason);
  scheduleNext(workflow);
}

async function pause(workflow: LockedWorkflow): Promise<void> {
  workflow.move('PAUSED');
  const held = workflow.moveAll(['ready'], 'paused', { values: { finished_at: null } });
  for (const { id } of workflow.stepsIn(['divided'])) await holdPieces(workflow.trx, id);
  for (const step of held) workflow.recordStep(step);
}

async function resume(workflow: LockedWorkflow): Promise<void> {
  if (workflow.state !== 'PAUSED') throw new IllegalMove(workflow.state, 'RUNNING');
  workflow.move('RUNNING');
  const [current] = workflow.stepsIn(['running', 'divided', 'paused']);
  if (current?.state === 'running') return;
  if (current?.state === 'divided') return startPieces(workflow, current);
  if (current && current.operation !== PAUSE) {
    workflow.makeReady(current);
    return;
  }
  workflow.moveAll(['paused'], 'succeeded');
  scheduleNext(workflow);
}

async function stop(workflow: LockedWorkflow): Promise<void> {
  const running = workflow.stepsIn(['running', 'divided']);
  workflow.recordAttempts(workflow.stepsIn(['running']), 'stopped', null);
  workflow.moveAll(['waiting', 'ready', 'running', 'divided', 'paused'], 'stopped');
  workflow.move('STOPPED');
  for (const step of running) workflow.recordStep(step);
  await notifyTaken(
    workflow.trx,
    running.map(({ id }) => id),
  );
  // The operation may have been divided while this waited for the lock.
  await dropPieces(workflow);
}

async function tryAgain(workflow: LockedWorkflow): Promise<void> {
  await prepareRetry(workflow);
  await dropPieces(workflow);
  applyConditions(workflow);
  workflow.move('RUNNING');
  scheduleNext(workflow);
}

/** The held operation may have been skipped since. */
function holdNextIfPaused(workflow: LockedWorkflow): void {
  if (workflow.state !== 'PAUSED') return;
  const [current] = workflow.stepsIn(['running', 'divided', 'paused']);
  if (!current) holdBack(workflow, workflow.nextStep({ onFailure: false }));
}

/** Holds the next operation. Resuming a paused workflow does not answer a step that waits for a person. */
function holdBack(workflow: LockedWorkflow, step: Step | undefined): void {
  if (step && step.operation !== PAUSE) workflow.hold(step);
}

/** Decides by the configuration which operations run, except those that have started or whose turn has passed. */
function applyConditions(workflow: LockedWorkflow): void {
  for (const step of workflow.stepsIn(['paused'])) if (step.operation !== PAUSE) workflow.moveStep(step, 'waiting');
  for (const step of workflow.stepsIn(['waiting', 'skipped'])) {
    if (step.condition === null || hasTurnPassed(workflow, step)) continue;
    const takesPart = compileCondition(step.condition).test(workflow.configuration);
    const to = takesPart ? 'waiting' : 'skipped';
    if (to !== step.state) workflow.moveStep(step, to);
  }
}

function hasTurnPassed({ steps }: LockedWorkflow, { position, onFailure }: Step): boolean {
  return steps.some(
    (step) =>
      step.onFailure === onFailure && step.position > position && step.state !== 'waiting' && step.state !== 'skipped',
  );
}
