import { sql } from 'kysely';
import type { Transaction } from '#platform/database/kysely.ts';
import type { Lane } from '#platform/queue/work-queue.ts';
import { releaseObjects } from '#platform/storage/staging-sweep.ts';
import { type LockedWorkflow, TAKEN_CHANNEL } from './locked-workflow.ts';
import type { Step } from './operation-queries.ts';
import { aliveWorkers } from './worker-processes.ts';

/** Workers of earlier versions do not serve it: they would take a piece for the whole operation. */
const PIECES = 'pieces';

/** The share of the pieces in the progress of an operation; the rest joins their results. */
const SHARE = 0.95;
/** The number of steps in which the progress of an operation is published. */
export const PROGRESS_STEPS = 20;

/** Inserts and starts the pieces of a divided operation. When all have finished, it runs again, and finds their results. */
export async function divide(workflow: LockedWorkflow, step: Step, pieces: readonly object[]): Promise<void> {
  // For clients, the operation is running.
  workflow.recordStep(step, { operation_state: 'running', pieces: pieces.length });
  await insertPieces(workflow.trx, step, pieces);
  await startPieces(workflow, step);
}

/** Makes pieces of a divided operation ready, unless the workflow is paused. @param ending a piece that is about to end */
export async function startPieces(workflow: LockedWorkflow, { id }: Step, ending?: number): Promise<void> {
  if (workflow.state === 'PAUSED') return;
  if (await readyPieces(workflow.trx, id, ending)) workflow.announceReady();
}

/**
 * Continues an operation after the claim of a piece was released. If the piece has failed, the operation needs no other
 * piece. When no piece is left, the operation runs again.
 */
export async function endPiece(workflow: LockedWorkflow, piece: Step): Promise<void> {
  const parent = workflow.steps.find(({ id, state }) => id === piece.parentId && state === 'divided');
  if (!parent || (piece.state !== 'succeeded' && piece.state !== 'failed')) return;
  if (piece.state === 'failed') await stopPieces(workflow.trx, parent.id, piece.id);
  else await startPieces(workflow, parent, piece.id);
  const { open, total } = await countPieces(workflow.trx, parent.id, piece.id);
  const progress = SHARE * (1 - open / total);
  if (Math.floor(progress * PROGRESS_STEPS) > Math.floor(parent.progress * PROGRESS_STEPS))
    workflow.progress(parent, progress);
  if (open > 0) return;
  if (workflow.state === 'PAUSED') workflow.hold(parent);
  else workflow.makeReady(parent);
}

/** Inserts the pieces of an operation, which wait. They have its limits, and a lane of which a worker runs one at a time. */
async function insertPieces(trx: Transaction, parent: Step, pieces: readonly object[]): Promise<void> {
  const configuration = JSON.stringify(parent.configuration);
  await sql`
    INSERT INTO workflow_operations (workflow_id, parent_id, operation, configuration, state, lane, max_attempts,
      time_limit_ms, position, piece)
    SELECT ${parent.workflowId}, ${parent.id}, ${parent.operation}, ${configuration}::jsonb, 'waiting',
      ${PIECES satisfies Lane}, ${parent.maxAttempts}, ${parent.timeLimitMs}, given.number - 1, given.piece
    FROM jsonb_array_elements(${JSON.stringify(pieces)}::jsonb) WITH ORDINALITY AS given (piece, number)`.execute(trx);
}

/**
 * Makes as many pieces ready as there are workers, so that a long recording keeps all of them busy, but delays the
 * operations of others by one piece only. Their places are those of this moment: otherwise pieces of the recording that
 * was divided first would go before those of all others.
 *
 * @param finished a piece that is about to end
 * @returns true if any became ready
 */
async function readyPieces(trx: Transaction, parentId: number, finished = 0): Promise<boolean> {
  const { rows } = await sql`
    UPDATE workflow_operations SET state = 'ready', ready_at = now(), not_before = now(), delivered_at = NULL
    WHERE id IN (
      SELECT id FROM workflow_operations WHERE parent_id = ${parentId} AND state IN ('waiting', 'paused')
      ORDER BY position LIMIT greatest(0, greatest(1, ${aliveWorkers}) - (SELECT count(*) FROM workflow_operations
        WHERE parent_id = ${parentId} AND state IN ('ready', 'running') AND id <> ${finished}))
    ) RETURNING id`.execute(trx);
  return rows.length > 0;
}

/** Holds the pieces that no worker has claimed. */
export async function holdPieces(trx: Transaction, parentId: number): Promise<void> {
  await sql`UPDATE workflow_operations SET state = 'paused', delivered_at = NULL
    WHERE parent_id = ${parentId} AND state = 'ready'`.execute(trx);
}

/** Stops all unfinished pieces, except one. */
async function stopPieces(trx: Transaction, parentId: number, except: number): Promise<void> {
  await sql`
    WITH open AS (
      SELECT id, state FROM workflow_operations WHERE parent_id = ${parentId} AND id <> ${except}
        AND state IN ('waiting', 'ready', 'running', 'paused')
    ), stopped AS (
      UPDATE workflow_operations o SET state = 'stopped', heartbeat_at = NULL, delivered_at = NULL, finished_at = now()
      FROM open WHERE o.id = open.id RETURNING o.id
    )
    SELECT pg_notify(${TAKEN_CHANNEL}, open.id::text) FROM open JOIN stopped USING (id)
    WHERE open.state = 'running'`.execute(trx);
}

/** Counts the pieces of an operation. @param except a piece that is about to end, which does not count as open */
async function countPieces(
  trx: Transaction,
  parentId: number,
  except: number,
): Promise<{ open: number; total: number }> {
  const { rows } = await sql<{ open: number; total: number }>`
    SELECT count(*) AS total, count(*) FILTER (WHERE id <> ${except}
      AND state IN ('waiting', 'ready', 'running', 'paused')) AS open
    FROM workflow_operations WHERE parent_id = ${parentId}`.execute(trx);
  return rows[0] ?? { open: 0, total: 1 };
}

/** Deletes the pieces of a workflow and releases their results; workers that run one stop. */
export async function dropPieces({ trx, id, eventId }: LockedWorkflow): Promise<void> {
  await sql`
    WITH dropped AS (
      DELETE FROM workflow_operations WHERE workflow_id = ${id} AND parent_id IS NOT NULL RETURNING id, state
    )
    SELECT pg_notify(${TAKEN_CHANNEL}, id::text) FROM dropped WHERE state = 'running'`.execute(trx);
  const results = await trx
    .deleteFrom('publication_elements')
    .where('event_id', '=', eventId)
    .where('workflow_id', '=', id)
    .where('kind', '=', 'piece')
    .returning('object_key')
    .execute();
  await releaseObjects(
    trx,
    results.map(({ object_key }) => object_key),
  );
}
