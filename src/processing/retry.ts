import { sql } from 'kysely';
import type { LockedWorkflow } from './locked-workflow.ts';
import { IllegalMove, isActive } from './states.ts';

/** A workflow that was started later has taken its place. */
export class Superseded extends Error {
  override name = 'Superseded';
}

/** What an operation knows that has not begun. */
const AFRESH = {
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

/**
 * Makes the operations of a workflow that failed or was stopped wait for their turn again, from the one that did not
 * succeed on. What was done is kept, unless the event has got other tracks since, or what was published is gone again.
 *
 * @throws {IllegalMove} for a workflow that goes on, or has succeeded
 * @throws {Superseded} when another workflow of the event was started later
 */
export async function prepareRetry(workflow: LockedWorkflow): Promise<void> {
  if (isActive(workflow.state) || workflow.state === 'SUCCEEDED') {
    throw new IllegalMove(workflow.state, 'RUNNING');
  }
  // Starting another one locks the event too, so one that is not yet committed is seen after this wait.
  await workflow.trx.selectFrom('events').select('id').where('id', '=', workflow.eventId).forUpdate().execute();
  if (await hasSuccessor(workflow)) {
    throw new Superseded('Another workflow of the event was started later; it is the one to be tried again.');
  }
  const fromStart = (await hasOtherTracks(workflow)) || hasRetracted(workflow);
  workflow.settle(fromStart ? ['failed', 'stopped', 'succeeded'] : ['failed', 'stopped'], 'waiting', {
    onFailure: false,
    values: AFRESH,
  });
  workflow.settle(['failed', 'stopped', 'succeeded'], 'waiting', { onFailure: true, values: AFRESH });
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

/** Whether tracks were inspected, and there are some now that were not. */
async function hasOtherTracks({ trx, steps, eventId }: LockedWorkflow): Promise<boolean> {
  if (!steps.some(({ operation, state }) => operation === 'inspect' && state === 'succeeded')) return false;
  const { rows } = await sql<{ others: boolean }>`
    SELECT EXISTS (SELECT FROM tracks WHERE event_id = ${eventId} AND is_media AND streams IS NULL
      AND made_by IS NULL) AS others`.execute(trx);
  return rows[0]?.others ?? false;
}

/** Whether it published, and retracted when it failed: the files of a publication go with it. */
function hasRetracted(workflow: LockedWorkflow): boolean {
  const done = workflow.stepsIn(['succeeded']);
  return (
    done.some(({ operation, onFailure }) => operation === 'publish' && !onFailure) &&
    done.some(({ operation, onFailure }) => operation === 'retract' && onFailure)
  );
}
