import { sql } from 'kysely';
import { dropPrepared } from '#publications/publish.ts';
import type { LockedWorkflow } from './locked-workflow.ts';
import { SUPERSEDED } from './workflow-refusals.ts';
import { IllegalMove, isActive, type OperationState } from './workflow-states.ts';

/** The columns of an operation that has not started. */
const INITIAL_VALUES = {
  attempts: 0,
  losses: 0,
  deferrals: 0,
  progress: 0,
  not_before: sql`'-infinity'::timestamptz`,
  reason: null,
  log: null,
  worker: null,
  started_at: null,
  lane: null,
};

/** An API of an earlier version leaves a divided operation as it is when it stops the workflow. */
const UNFINISHED: readonly OperationState[] = ['failed', 'stopped', 'divided'];

/**
 * Moves operations back to waiting, from the first one that did not succeed. Results are kept, unless the tracks of the
 * event have changed since, or its publications were retracted.
 *
 * @throws {IllegalMove} for a workflow that is active, or has succeeded
 * @throws {HttpError} 409 when the event has a later workflow
 */
export async function prepareRetry(workflow: LockedWorkflow): Promise<void> {
  if (isActive(workflow.state) || workflow.state === 'SUCCEEDED') {
    throw new IllegalMove(workflow.state, 'RUNNING');
  }
  // Starting a workflow locks the event too, so an uncommitted one is visible after this wait.
  const event = workflow.trx.selectFrom('events').select('tracks_changed_at').where('id', '=', workflow.eventId);
  const { tracks_changed_at: changedAt } = await event.forUpdate().executeTakeFirstOrThrow();
  if (await hasSuccessor(workflow)) throw SUPERSEDED();
  const beganAt = Math.min(...workflow.steps.flatMap(({ startedAt }) => startedAt?.getTime() ?? []));
  const fromStart = (changedAt !== null && changedAt.getTime() > beganAt) || hasRetracted(workflow);
  if (fromStart) await dropPrepared(workflow.trx, workflow);
  workflow.moveAll(fromStart ? [...UNFINISHED, 'succeeded'] : UNFINISHED, 'waiting', {
    onFailure: false,
    values: INITIAL_VALUES,
  });
  workflow.moveAll(['failed', 'stopped', 'succeeded'], 'waiting', { onFailure: true, values: INITIAL_VALUES });
}

async function hasSuccessor({ trx, id, eventId }: LockedWorkflow): Promise<boolean> {
  const later = await trx
    .selectFrom('workflows')
    .select('id')
    .where('event_id', '=', eventId)
    .where('id', '>', id)
    .limit(1)
    .executeTakeFirst();
  return later !== undefined;
}

/** Reports whether it published, and retracted after a failure: that removes the files of a publication. */
function hasRetracted(workflow: LockedWorkflow): boolean {
  const done = workflow.stepsIn(['succeeded']);
  return (
    done.some(({ operation, onFailure }) => operation === 'publish' && !onFailure) &&
    done.some(({ operation, onFailure }) => operation === 'retract' && onFailure)
  );
}
