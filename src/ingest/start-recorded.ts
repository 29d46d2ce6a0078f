import type { Principal } from '../access/principal.ts';
import type { Queryable, Transaction } from '../database/kysely.ts';
import { conflict, notFound } from '../http/errors.ts';
import { processingOf } from '../recordings/schedules/schedules.queries.ts';
import { advanceRecording, type RecordingProgress, recordingProgress } from '../recordings/state.ts';
import type { WorkflowDefinitions } from '../workflows/definitions.ts';
import type { Processing } from '../workflows/processing.ts';
import { startWorkflow } from '../workflows/start.ts';

/** Who brought a recording, with which request, and which workflows there are. */
export interface RecordingSource {
  principal: Principal;
  requestId: string;
  definitions: WorkflowDefinitions;
}

/**
 * How far the recording of an event is that another comes for.
 *
 * @throws {HttpError} 409 for a scheduled event whose recording has begun or come: it is never replaced
 */
export async function refuseSecondRecording(
  db: Queryable,
  eventId: string,
): Promise<Exclude<RecordingProgress, 'begun'>> {
  const progress = await recordingProgress(db, eventId);
  if (progress === undefined) throw notFound(`Cannot find an event with id '${eventId}'.`);
  if (progress !== 'begun') return progress;
  throw conflict(`The recording of the event '${eventId}' has come already.`);
}

/**
 * Refuses a recording that was taken in for a scheduled event which is there no more in that way.
 *
 * @throws {HttpError} 409, also as `refuseSecondRecording`
 */
export async function requireAwaited(db: Queryable, eventId: string): Promise<void> {
  if ((await refuseSecondRecording(db, eventId)) === 'awaited') return;
  // Deleted meanwhile, and created anew.
  throw conflict(`The event '${eventId}' is not scheduled any more.`);
}

/** Starts what is to be done with the recording of a scheduled event, which has just got its tracks. */
export async function startRecorded(
  trx: Transaction,
  eventId: string,
  source: RecordingSource,
): Promise<void> {
  const processing = await processingOf(trx, eventId);
  if (!processing) throw new Error(`The event ${eventId} has no schedule.`);
  await advanceRecording(trx, eventId, { kind: 'recorded' });
  await startProcessing(trx, eventId, processing, source);
}

/** Starts the processing of an event that has its tracks. */
export async function startProcessing(
  trx: Transaction,
  eventId: string,
  { workflow, configuration }: Processing,
  { principal, requestId, definitions }: RecordingSource,
): Promise<void> {
  await startWorkflow(trx, {
    eventId,
    definition: definitions.resolve(workflow),
    configuration,
    creator: principal.username,
    requestId,
  });
}
