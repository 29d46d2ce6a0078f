import type { Transaction } from '#platform/database/kysely.ts';
import { applyChange } from './apply-change.ts';
import { LockedWorkflow } from './locked-workflow.ts';
import type { WorkflowRef } from './operation-queries.ts';
import type { Change } from './workflow-change.ts';

/**
 * The only writer of the states of workflows and operations and of an event's `processing_state`. Changes to one
 * workflow happen one after another. With `notifies: false` the caller notifies the listeners after the commit.
 *
 * @throws {ClaimLost} when the operation is not held under the change's fencing token
 * @throws {IllegalMove} when the state does not allow the change
 * @throws {HttpError} 409 when a retry was requested but the event has a later workflow
 */
export async function advance(
  trx: Transaction,
  ref: WorkflowRef,
  change: Change,
  { notifies = true } = {},
): Promise<LockedWorkflow> {
  const workflow = await LockedWorkflow.lock(trx, ref, 'operationId' in change ? change.operationId : undefined);
  await applyChange(workflow, change);
  const actor = 'by' in change ? change.by : undefined;
  await workflow.save({ actor, channels: notifies ? workflow.channels : [] });
  return workflow;
}
