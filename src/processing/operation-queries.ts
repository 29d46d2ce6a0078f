import { type RawBuilder, sql } from 'kysely';
import type { Transaction } from '#platform/database/kysely.ts';
import { PREPARED } from '#platform/database/prepared.ts';
import { isPaused } from './lane-settings.ts';
import type { Ending } from './workflow-change.ts';
import type { OperationState, WorkflowState } from './workflow-states.ts';

/** The time for which the operation has been due, if known; it may have become ready after the transaction began. */
const WAITED_MS = sql<number | null>`CASE WHEN ready_at IS NOT NULL THEN
  greatest(0, round(1000 * extract(epoch FROM now() - greatest(ready_at, not_before))))::bigint END`;

const isDivided = sql<boolean>`EXISTS (SELECT FROM workflow_operations AS piece WHERE piece.parent_id = o.id)`;

/** The number of a workflow, or that of a ready operation of it. */
export type WorkflowRef = number | { readyOperation: number };

/** An operation of a locked workflow with its columns, in the state that it will have. */
export type Step = Readonly<Awaited<ReturnType<typeof lockSteps>>[number]>;

/**
 * Locks a workflow and its operations, and reads their state after the wait for the lock.
 *
 * @param pieceId the piece to be locked as well, if it is one; a divided operation may have hundreds
 */
export async function lockSteps(trx: Transaction, ref: WorkflowRef, pieceId = 0) {
  const rows = await trx
    .selectFrom('workflows as w')
    .modifyFront(PREPARED)
    .innerJoin('workflow_operations as o', 'o.workflow_id', 'w.id')
    .select([
      'w.id as workflowId',
      'w.event_id as eventId',
      'w.definition',
      'w.state as workflowState',
      'w.reason as workflowReason',
      'w.configuration as workflowConfiguration',
      'w.request_id as requestId',
      'w.traceparent',
      'w.created_at as begun',
      'o.id',
      'o.position',
      'o.operation',
      'o.state',
      'o.on_failure as onFailure',
      'o.condition',
      'o.configuration',
      'o.fencing_token as token',
      'o.attempts',
      'o.losses',
      'o.progress',
      'o.parent_id as parentId',
      'o.piece',
      'o.lane',
      isDivided.as('hasPieces'),
      'o.deferrals',
      'o.max_attempts as maxAttempts',
      'o.time_limit_ms as timeLimitMs',
      'o.started_at as startedAt',
      'o.optional',
      WAITED_MS.as('waitedMs'),
      sql<boolean>`o.not_before <= now()`.as('isDue'),
      isPaused(sql.ref('o.lane')).as('isLanePaused'),
    ])
    .where((is) => is('w.id', '=', typeof ref === 'number' ? ref : workflowOfReady(ref.readyOperation)))
    .where((is) => is.or([is('o.parent_id', 'is', null), is('o.id', '=', pieceId)]))
    .orderBy('o.position')
    .forUpdate(['w', 'o'])
    .execute();
  return rows.map((row) => ({
    ...row,
    state: row.state as OperationState,
    configuration: row.configuration as Readonly<Record<string, string>>,
    workflowState: row.workflowState as WorkflowState,
    workflowConfiguration: row.workflowConfiguration as Readonly<Record<string, string>>,
  }));
}

function workflowOfReady(operationId: number) {
  return sql<number>`(SELECT workflow_id FROM workflow_operations WHERE id = ${operationId} AND state = 'ready')`;
}

/** The end of an attempt that did not succeed. */
export type Outcome = Exclude<Ending['kind'], 'succeeded' | 'divided'> | 'stopped';

/** Attempts at running operations that did not succeed. */
export interface EndedAttempts {
  operationIds: readonly number[];
  outcome: Outcome;
  reason: string | null;
}

/**
 * Returns the statements that record the end of attempts, as the operations were before this save. A deferral with the same reason
 * only raises the count: the second statement reads what the first, under the given name, returns.
 */
export function attemptWrites({ operationIds, outcome, reason }: EndedAttempts, first: RawBuilder<unknown>) {
  const repeat = sql`
    UPDATE workflow_attempts a SET times = times + 1, ended_at = now(), worker = o.worker FROM workflow_operations o
    WHERE ${outcome} = 'deferred' AND o.id = ANY(${operationIds}) AND a.id = (
        SELECT last.id FROM workflow_attempts last WHERE last.operation_id = o.id ORDER BY last.id DESC LIMIT 1)
      AND a.outcome = ${outcome} AND a.reason IS NOT DISTINCT FROM ${reason}
    RETURNING a.operation_id`;
  const insert = sql`
    INSERT INTO workflow_attempts (operation_id, outcome, worker, reason, started_at)
    SELECT id, ${outcome}, worker, ${reason}, coalesce(claimed_at, now()) FROM workflow_operations
    WHERE id = ANY(${operationIds}) AND id NOT IN (SELECT operation_id FROM ${first})`;
  return [repeat, insert];
}

/** Returns the new values of an operation whose claim ends, apart from its state. */
export function endingValues(change: Ending) {
  switch (change.kind) {
    case 'succeeded':
      return { progress: 1, reason: null, finished_at: sql`now()` };
    case 'divided':
      return { progress: 0, worker: null };
    case 'failed':
      return { reason: change.reason, log: change.log, finished_at: sql`now()` };
    case 'retried':
      return { ...postponement(change), attempts: sql`attempts + 1`, worker: null };
    case 'deferred':
      return { ...postponement(change), deferrals: sql`deferrals + 1`, worker: null };
    case 'lost':
      return { losses: sql`losses + 1`, worker: null };
    case 'handed back':
      return { worker: null };
  }
}

function postponement({ reason, log, delayMs }: { reason: string; log: string; delayMs: number }) {
  return { reason, log, not_before: sql`now() + make_interval(secs => ${delayMs / 1000})` };
}
