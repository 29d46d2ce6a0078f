import { sql } from 'kysely';
import { recordChanges } from '../changes/record.ts';
import type { Transaction } from '../database/kysely.ts';
import { type Outcome, recordAttempts } from './attempts.ts';
import { configure, decide } from './configure.ts';
import { PAUSE } from './definition.ts';
import { LockedWorkflow, type Step, tellTaken } from './locked-workflow.ts';
import { prepareRetry } from './retry.ts';
import { IllegalMove, isActive, type WorkflowState } from './states.ts';

/** What a worker says of an operation that it holds. */
interface Held {
  operationId: number;
  token: number;
}

/** What happened to a workflow. Every change of a state goes through `advance()` with one of these. */
export type Change =
  | { kind: 'started'; by: string }
  /** A worker took the operation. */
  | { kind: 'claimed'; operationId: number; worker: string }
  | ({ kind: 'succeeded' } & Held)
  | ({ kind: 'failed'; reason: string; log: string } & Held)
  /** The operation is to be tried again after a pause. */
  | ({ kind: 'retried'; reason: string; log: string; delayMs: number } & Held)
  /** A part of the service does not work: the operation is to be tried again, and has lost no attempt. */
  | ({ kind: 'deferred'; reason: string; log: string; delayMs: number } & Held)
  /** The worker stops and gives its operation to another. */
  | ({ kind: 'handed back' } & Held)
  /** The worker has been silent for too long. */
  | ({ kind: 'lost' } & Held)
  | Control;

/** What somebody asks of a workflow. */
export type Control =
  /** Goes on after a pause. */
  | { kind: 'resumed'; by: string }
  /** Nothing further is begun. What is under way is finished first, and its result kept. */
  | { kind: 'paused'; by: string }
  /** Ends at once, with what is under way. */
  | { kind: 'stopped'; by: string }
  /** What failed or was stopped goes on where it ended. */
  | { kind: 'tried again'; by: string; configuration?: Readonly<Record<string, string>> | undefined }
  /** Its configuration is another one: operations that have not begun take part, or not, by that. */
  | { kind: 'configured'; by: string; configuration: Readonly<Record<string, string>> };

/**
 * The only writer of the states of workflows and operations and of an event's `processing_state`. Locks the workflow,
 * so that changes to one workflow happen one after the other, and writes down what has changed.
 *
 * @throws {ClaimLost} when the operation is not held under the change's fencing token
 * @throws {IllegalMove} when the state does not allow the change
 * @throws {Superseded} when something is to be tried again and another workflow of the event came later
 */
export async function advance(trx: Transaction, workflowId: number, change: Change): Promise<WorkflowState> {
  const actor = 'by' in change ? change.by : undefined;
  const workflow = await LockedWorkflow.lock(trx, workflowId, actor);
  await carryOut(workflow, change);
  await recordChanges(trx, workflow.changes);
  return workflow.state;
}

async function carryOut(workflow: LockedWorkflow, change: Change): Promise<void> {
  switch (change.kind) {
    case 'started':
      workflow.tellOfStart();
      return goOn(workflow);
    case 'claimed': {
      const { operation, waitedMs } = await workflow.claim(change.operationId, change.worker);
      if (workflow.state === 'INSTANTIATED') await workflow.move('RUNNING');
      return workflow.tellOfStep(operation, 'running', waitedMs === null ? {} : { waited_ms: waitedMs });
    }
    case 'succeeded': {
      const { operation } = await workflow.leave(change, 'succeeded', {
        progress: 1,
        reason: null,
        finished_at: sql`now()`,
      });
      workflow.tellOfStep(operation, 'succeeded', { progress: 1 });
      return goOn(workflow);
    }
    case 'failed': {
      const { reason, log } = change;
      await recordAttempts(workflow.trx, [change.operationId], { outcome: 'failed', reason });
      const { operation } = await workflow.leave(change, 'failed', { reason, log, finished_at: sql`now()` });
      workflow.tellOfStep(operation, 'failed', { reason });
      return fail(workflow, reason);
    }
    case 'retried':
      return giveBack(workflow, change, {
        reason: change.reason,
        log: change.log,
        attempts: sql`attempts + 1`,
        not_before: later(change.delayMs),
      });
    case 'deferred':
      return giveBack(workflow, change, {
        reason: change.reason,
        log: change.log,
        deferrals: sql`deferrals + 1`,
        not_before: later(change.delayMs),
      });
    case 'handed back':
      return giveBack(workflow, change, {});
    case 'lost':
      return giveBack(workflow, change, { losses: sql`losses + 1` });
    case 'resumed':
      return resume(workflow);
    case 'paused':
      return pause(workflow);
    case 'stopped':
      return stop(workflow);
    case 'tried again':
      return tryAgain(workflow, change.configuration);
    case 'configured':
      await configure(workflow, change.configuration);
      // Of one that has ended it counts when it is tried again.
      if (!isActive(workflow.state)) return;
      await decide(workflow);
      return holdAgain(workflow);
  }
}

function later(ms: number) {
  return sql`now() + make_interval(secs => ${ms / 1000})`;
}

/** Makes the next operation ready, holds it, or finishes the workflow. */
async function goOn(workflow: LockedWorkflow): Promise<void> {
  const onFailure = workflow.state === 'FAILING';
  const step = await workflow.nextStep({ onFailure });
  if (workflow.state === 'PAUSED') {
    // Without a further operation it is done as soon as somebody lets it go on.
    return holdBack(workflow, step);
  }
  if (!step) return finish(workflow);
  if (step.operation !== PAUSE) return workflow.makeReady(step, 'waiting');
  await workflow.hold(step);
  await workflow.move('PAUSED');
}

async function finish(workflow: LockedWorkflow): Promise<void> {
  if (workflow.state === 'FAILING') return workflow.move('FAILED');
  await workflow.settle(['waiting'], 'skipped', { onFailure: true, set: { finished_at: null } });
  await workflow.become('RUNNING');
  return workflow.move('SUCCEEDED');
}

/** What is to be done then follows; when that fails as well, the rest of it is left. */
async function fail(workflow: LockedWorkflow, reason: string): Promise<void> {
  await workflow.settle(['waiting'], 'stopped', { onFailure: workflow.state === 'FAILING' });
  if (workflow.state !== 'FAILING') await workflow.move('FAILING', reason);
  return goOn(workflow);
}

async function giveBack(
  workflow: LockedWorkflow,
  change: Held & { kind: Outcome; reason?: string },
  set: Record<string, unknown>,
): Promise<void> {
  const { kind: outcome, reason = null } = change;
  await recordAttempts(workflow.trx, [change.operationId], { outcome, reason });
  const to = workflow.state === 'PAUSED' ? 'paused' : 'ready';
  const { operation } = await workflow.leave(change, to, { ...set, worker: null });
  workflow.tellOfStep(operation, to, reason === null ? {} : { reason });
}

async function pause(workflow: LockedWorkflow): Promise<void> {
  await workflow.move('PAUSED');
  const held = await workflow.settle(['ready'], 'paused', { set: { finished_at: null } });
  for (const { operation } of held) workflow.tellOfStep(operation, 'paused');
}

async function resume(workflow: LockedWorkflow): Promise<void> {
  if (workflow.state !== 'PAUSED') throw new IllegalMove(workflow.state, 'RUNNING');
  await workflow.move('RUNNING');
  const [current] = await workflow.stepsIn(['running', 'paused']);
  if (current?.state === 'running') return;
  if (current && current.operation !== PAUSE) return workflow.makeReady(current, 'paused');
  await workflow.settle(['paused'], 'succeeded');
  return goOn(workflow);
}

async function stop(workflow: LockedWorkflow): Promise<void> {
  const running = (await workflow.stepsIn(['running'])).map(({ id }) => id);
  await recordAttempts(workflow.trx, running, { outcome: 'stopped', reason: null });
  const stopped = await workflow.settle(['waiting', 'ready', 'running', 'paused'], 'stopped');
  await workflow.move('STOPPED');
  for (const { operation } of stopped.filter(({ id }) => running.includes(id)))
    workflow.tellOfStep(operation, 'stopped');
  await tellTaken(workflow.trx, running);
}

async function tryAgain(
  workflow: LockedWorkflow,
  configuration: Readonly<Record<string, string>> | undefined,
): Promise<void> {
  await prepareRetry(workflow);
  if (configuration) await configure(workflow, configuration);
  await decide(workflow);
  await workflow.move('RUNNING');
  return goOn(workflow);
}

/** What was held may have been left out since. */
async function holdAgain(workflow: LockedWorkflow): Promise<void> {
  if (workflow.state !== 'PAUSED') return;
  const [current] = await workflow.stepsIn(['running', 'paused']);
  if (!current) await holdBack(workflow, await workflow.nextStep({ onFailure: false }));
}

/** Holds what comes next. That somebody lets the workflow go on is no answer to a step that is to wait for a person. */
async function holdBack(workflow: LockedWorkflow, step: Step | undefined): Promise<void> {
  if (step && step.operation !== PAUSE) await workflow.hold(step);
}
