import { sql } from 'kysely';
import { compileCondition } from './condition.ts';
import { PAUSE } from './definition.ts';
import type { LockedWorkflow } from './locked-workflow.ts';
import { assertMove, OPERATION_MOVES, type OperationState } from './states.ts';

/** Gives a workflow other values of its configuration; keys that are not named stay as they are. */
export async function configure(
  { trx, id }: LockedWorkflow,
  configuration: Readonly<Record<string, string>>,
): Promise<void> {
  await trx
    .updateTable('workflows')
    .set({ configuration: sql`configuration || ${JSON.stringify(configuration)}::jsonb` })
    .where('id', '=', id)
    .execute();
}

/**
 * Decides anew by the configuration which operations take part that have not begun and whose turn has not passed. What
 * was held goes back to its place.
 */
export async function decide(workflow: LockedWorkflow): Promise<void> {
  const { trx, id } = workflow;
  const { configuration } = await trx
    .selectFrom('workflows')
    .select('configuration')
    .where('id', '=', id)
    .executeTakeFirstOrThrow();
  const values = configuration as Record<string, string>;
  await release(workflow);
  for (const { id: operationId, condition, state } of await undecided(workflow)) {
    const to: OperationState = compileCondition(condition).test(values) ? 'waiting' : 'skipped';
    if (to === state) continue;
    assertMove(OPERATION_MOVES, state, to);
    await trx.updateTable('workflow_operations').set({ state: to }).where('id', '=', operationId).execute();
  }
}

/** Lets operations wait again that are held; those that wait for a person go on doing so. */
async function release({ trx, id }: LockedWorkflow): Promise<void> {
  assertMove(OPERATION_MOVES, 'paused', 'waiting');
  await trx
    .updateTable('workflow_operations')
    .set({ state: 'waiting' })
    .where('workflow_id', '=', id)
    .where('state', '=', 'paused')
    .where('operation', '<>', PAUSE)
    .execute();
}

async function undecided({ trx, id }: LockedWorkflow) {
  const { rows } = await sql<{ id: number; condition: string; state: 'waiting' | 'skipped' }>`
    SELECT id, condition, state FROM workflow_operations o
    WHERE workflow_id = ${id} AND condition IS NOT NULL AND state IN ('waiting', 'skipped')
      AND position > coalesce((SELECT max(begun.position) FROM workflow_operations begun WHERE begun.workflow_id = ${id}
        AND begun.on_failure = o.on_failure AND begun.state NOT IN ('waiting', 'skipped')), -1)
    ORDER BY position`.execute(trx);
  return rows;
}
