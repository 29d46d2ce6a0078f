import { recordChanges } from '#changes/record.ts';
import type { Transaction } from '#platform/database/kysely.ts';
import { NOT_DELETABLE } from './refusals.ts';
import { isActive } from './states.ts';

/**
 * Forgets a workflow that has ended. Its event is in the state of the workflow before it, or in none.
 *
 * @param by the account that asks for it
 * @returns false when it is gone
 * @throws {HttpError} 409 for one that goes on
 */
export async function removeWorkflow(trx: Transaction, id: number, by: string): Promise<boolean> {
  const workflow = await trx
    .selectFrom('workflows')
    .select(['event_id', 'definition', 'state'])
    .where('id', '=', id)
    .forUpdate()
    .executeTakeFirst();
  if (!workflow) return false;
  if (isActive(workflow.state)) throw NOT_DELETABLE();
  const { event_id: eventId, definition } = workflow;
  await trx.selectFrom('events').select('id').where('id', '=', eventId).forUpdate().execute();
  await trx.deleteFrom('workflows').where('id', '=', id).execute();
  const before = await trx
    .selectFrom('workflows')
    .select('state')
    .where('event_id', '=', eventId)
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst();
  const state = before?.state ?? '';
  await trx.updateTable('events').set({ processing_state: state }).where('id', '=', eventId).execute();
  const data = { workflow: id, definition, state };
  await recordChanges(trx, [{ kind: 'workflow.deleted', eventId, actor: by, data }]);
  return true;
}
