import { sql } from 'kysely';
import type { Transaction } from '#platform/database/kysely.ts';
import { isPaused } from './lane-settings.ts';
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
type Outcome = 'failed' | 'retried' | 'deferred' | 'handed back' | 'lost' | 'stopped';

/** Records the end of an attempt at running operations. A deferral with the same reason only raises the count. */
export async function recordAttempts(
  trx: Transaction,
  operationIds: readonly number[],
  { outcome, reason }: { outcome: Outcome; reason: string | null },
): Promise<void> {
  if (operationIds.length === 0) return;
  await sql`
    WITH finished AS (
      SELECT id, worker, coalesce(claimed_at, now()) AS claimed_at FROM workflow_operations
      WHERE id = ANY(${operationIds}) AND state = 'running'
    ), repeated AS (
      UPDATE workflow_attempts SET times = times + 1, ended_at = now(), worker = finished.worker
      FROM finished WHERE ${outcome} = 'deferred' AND workflow_attempts.id = (
        SELECT last.id FROM workflow_attempts last
        WHERE last.operation_id = finished.id ORDER BY last.id DESC LIMIT 1)
        AND workflow_attempts.outcome = ${outcome} AND workflow_attempts.reason IS NOT DISTINCT FROM ${reason}
      RETURNING operation_id
    )
    INSERT INTO workflow_attempts (operation_id, outcome, worker, reason, started_at)
    SELECT id, ${outcome}, worker, ${reason}, claimed_at FROM finished
    WHERE NOT EXISTS (SELECT FROM repeated WHERE repeated.operation_id = finished.id)`.execute(trx);
}

/** After this many dead workers an operation may be the cause: a process runs only one such operation at a time. */
const SUSPECT_LOSSES = 3;

/** @param operation.losses the number of workers that died with it */
export function isPoisonSuspect({ losses }: { losses: number }): boolean {
  return losses >= SUSPECT_LOSSES;
}

/** Reports whether the worker runs another suspect. Of two concurrent calls, the second sees the first. */
export async function runsAnotherSuspect(trx: Transaction, operationId: number, worker: string): Promise<boolean> {
  await sql`SELECT pg_advisory_xact_lock(hashtextextended(${`suspects of ${worker}`}, 0))`.execute(trx);
  const other = await trx
    .selectFrom('workflow_operations')
    .select('id')
    .where('state', '=', 'running')
    .where('worker', '=', worker)
    .where('losses', '>=', SUSPECT_LOSSES)
    .where('id', '<>', operationId)
    .limit(1)
    .executeTakeFirst();
  return other !== undefined;
}
