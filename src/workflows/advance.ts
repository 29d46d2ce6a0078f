import { sql } from 'kysely';
import type { Transaction } from '../database/kysely.ts';
import { PAUSE } from './definition.ts';
import {
  assertMove,
  IllegalMove,
  isFinished,
  OPERATION_MOVES,
  type OperationState,
  WORKFLOW_MOVES,
  type WorkflowState,
} from './states.ts';

/** The channel on which the relay hears that an operation became ready. */
export const READY_CHANNEL = 'inlet_operation_ready';

/** What happened to a workflow. Every change of a state goes through `advance()` with one of these. */
export type Change =
  | { kind: 'started' }
  /** A worker took the operation. */
  | { kind: 'claimed'; operationId: number; worker: string }
  | { kind: 'succeeded'; operationId: number; token: number }
  | { kind: 'failed'; operationId: number; token: number; reason: string; log: string }
  /** The operation is to be tried again after a pause. */
  | { kind: 'retried'; operationId: number; token: number; reason: string; log: string; delayMs: number }
  /** A part of the service does not work: the operation is to be tried again, and has lost no attempt. */
  | { kind: 'deferred'; operationId: number; token: number; reason: string; log: string; delayMs: number }
  /** The worker stops and gives its operation to another. */
  | { kind: 'handed back'; operationId: number; token: number }
  /** The worker has been silent for too long. */
  | { kind: 'lost'; operationId: number; token: number }
  | { kind: 'resumed' }
  | { kind: 'stopped' };

/** The change comes from a worker that no longer holds the operation; the transaction must roll back. */
export class ClaimLost extends Error {
  override name = 'ClaimLost';
}

interface Current {
  id: number;
  event_id: string;
  state: WorkflowState;
}

/**
 * The only writer of the states of workflows and operations and of an event's `processing_state`. Locks the workflow,
 * so that changes to one workflow happen one after the other.
 *
 * @throws {ClaimLost} when the operation is not held under the change's fencing token
 * @throws {IllegalMove} when the state does not allow the change
 */
export async function advance(trx: Transaction, workflowId: number, change: Change): Promise<WorkflowState> {
  const row = await trx
    .selectFrom('workflows')
    .select(['id', 'event_id', 'state'])
    .where('id', '=', workflowId)
    .forUpdate()
    .executeTakeFirst();
  if (!row) throw new ClaimLost(`Workflow ${workflowId} is gone.`);
  const workflow = { ...row, state: row.state as WorkflowState };
  switch (change.kind) {
    case 'started':
      return next(trx, workflow);
    case 'claimed':
      await claim(trx, change.operationId, change.worker);
      return workflow.state === 'RUNNING' ? 'RUNNING' : move(trx, workflow, 'RUNNING');
    case 'succeeded':
      await leave(trx, change, 'succeeded', { progress: 1, reason: null, finished_at: sql`now()` });
      return next(trx, workflow);
    case 'failed':
      await leave(trx, change, 'failed', { reason: change.reason, log: change.log, finished_at: sql`now()` });
      return fail(trx, workflow);
    case 'retried':
    case 'deferred':
      await leave(trx, change, 'ready', {
        reason: change.reason,
        log: change.log,
        ...(change.kind === 'retried' ? { attempts: sql`attempts + 1` } : { deferrals: sql`deferrals + 1` }),
        not_before: sql`now() + make_interval(secs => ${change.delayMs / 1000})`,
      });
      return workflow.state;
    case 'handed back':
      await leave(trx, change, 'ready', {});
      return workflow.state;
    case 'lost':
      await leave(trx, change, 'ready', { losses: sql`losses + 1` });
      return workflow.state;
    case 'resumed':
      if (workflow.state !== 'PAUSED') throw new IllegalMove(workflow.state, 'RUNNING');
      await settle(trx, workflow.id, ['paused'], 'succeeded');
      return next(trx, workflow);
    case 'stopped':
      await settle(trx, workflow.id, ['waiting', 'ready', 'running', 'paused'], 'stopped');
      return move(trx, workflow, 'STOPPED');
  }
}

async function claim(trx: Transaction, operationId: number, worker: string): Promise<void> {
  assertMove(OPERATION_MOVES, 'ready', 'running');
  const taken = await trx
    .updateTable('workflow_operations')
    .set({
      state: 'running',
      worker,
      fencing_token: sql`fencing_token + 1`,
      heartbeat_at: sql`now()`,
      started_at: sql`coalesce(started_at, now())`,
      progress: 0,
    })
    .where('id', '=', operationId)
    .where('state', '=', 'ready')
    .where('not_before', '<=', sql<Date>`now()`)
    .executeTakeFirst();
  if (taken.numUpdatedRows === 0n) throw new ClaimLost('The operation is not ready.');
}

/** Ends a claim: the fencing token decides whether the worker still held it. */
async function leave(
  trx: Transaction,
  held: { operationId: number; token: number },
  to: OperationState,
  set: Record<string, unknown>,
): Promise<void> {
  assertMove(OPERATION_MOVES, 'running', to);
  const left = await trx
    .updateTable('workflow_operations')
    .set({ ...set, state: to, heartbeat_at: null, worker: null, delivered_at: null })
    .where('id', '=', held.operationId)
    .where('state', '=', 'running')
    .where('fencing_token', '=', held.token)
    .executeTakeFirst();
  if (left.numUpdatedRows === 0n) throw new ClaimLost('The operation is held by another worker.');
  if (to === 'ready') await announce(trx);
}

/** Makes the next operation ready, pauses before it, or finishes the workflow. */
async function next(trx: Transaction, workflow: Current): Promise<WorkflowState> {
  const operation = await trx
    .selectFrom('workflow_operations')
    .select(['id', 'operation'])
    .where('workflow_id', '=', workflow.id)
    .where('state', '=', 'waiting')
    .orderBy('position')
    .limit(1)
    .executeTakeFirst();
  if (!operation) {
    const running =
      workflow.state === 'RUNNING' ? workflow : { ...workflow, state: await move(trx, workflow, 'RUNNING') };
    return move(trx, running, 'SUCCEEDED');
  }
  const to: OperationState = operation.operation === PAUSE ? 'paused' : 'ready';
  assertMove(OPERATION_MOVES, 'waiting', to);
  await trx.updateTable('workflow_operations').set({ state: to }).where('id', '=', operation.id).execute();
  if (to === 'ready') {
    await announce(trx);
    return workflow.state === 'PAUSED' ? move(trx, workflow, 'RUNNING') : workflow.state;
  }
  if (workflow.state === 'PAUSED') return 'PAUSED';
  const running =
    workflow.state === 'RUNNING' ? workflow : { ...workflow, state: await move(trx, workflow, 'RUNNING') };
  return move(trx, running, 'PAUSED');
}

async function fail(trx: Transaction, workflow: Current): Promise<WorkflowState> {
  const failing = await move(trx, workflow, 'FAILING');
  await settle(trx, workflow.id, ['waiting'], 'stopped');
  return move(trx, { ...workflow, state: failing }, 'FAILED');
}

async function settle(
  trx: Transaction,
  workflowId: number,
  from: OperationState[],
  to: OperationState,
): Promise<void> {
  for (const state of from) assertMove(OPERATION_MOVES, state, to);
  await trx
    .updateTable('workflow_operations')
    .set({ state: to, heartbeat_at: null, finished_at: sql`now()` })
    .where('workflow_id', '=', workflowId)
    .where('state', 'in', from)
    .execute();
}

async function move(trx: Transaction, workflow: Current, to: WorkflowState): Promise<WorkflowState> {
  assertMove(WORKFLOW_MOVES, workflow.state, to);
  await trx
    .updateTable('workflows')
    .set({ state: to, finished_at: isFinished(to) ? sql<Date>`now()` : null })
    .where('id', '=', workflow.id)
    .execute();
  await trx.updateTable('events').set({ processing_state: to }).where('id', '=', workflow.event_id).execute();
  return to;
}

async function announce(trx: Transaction): Promise<void> {
  await sql`SELECT pg_notify(${READY_CHANNEL}, '')`.execute(trx);
}
