import { isDeepStrictEqual } from 'node:util';
import type { Transaction } from '../../database/kysely.ts';
import { requireAgent } from '../../recordings/agents/require-agent.ts';
import { periodOf, type SchedulingChange } from '../../recordings/schedules/parse.ts';
import { isSamePlace, type Schedule } from '../../recordings/schedules/schedule.ts';
import { processingOf, scheduleOf } from '../../recordings/schedules/schedules.queries.ts';
import { changeProcessing, changeSchedule } from '../../recordings/schedules/write-schedules.ts';
import { recordingProgress } from '../../recordings/state.ts';
import type { Processing } from '../../workflows/processing.ts';
import { NO_WORKFLOW, RECORDING_BEGUN, UPLOADED_ALREADY } from '../refusals.ts';
import type { LockedEvent } from './lock-event.ts';
import type { Refusals } from './refusals.ts';

/** What is to become of an event's schedule; what is not given stays. */
export interface SchedulingEdit {
  change: SchedulingChange;
  /** What has to lie between two recordings of an agent, in milliseconds. */
  gapMs: number;
  /** Whether it may overlap what the agent is to record already. */
  allowConflict: boolean;
}

/**
 * Gives a scheduled event another time, agent or inputs. With time and agent go the start, the duration and the location
 * that the event shows.
 *
 * @returns whether that changed anything
 * @throws {HttpError} 400 when its recording has begun
 * @throws {Overlap} when something else is to be recorded then
 */
export async function editScheduling(
  trx: Transaction,
  event: LockedEvent,
  { change, ...options }: SchedulingEdit,
  refusals: Refusals,
): Promise<boolean> {
  const from = await scheduleOf(trx, event.id);
  if (!from) throw refusals.unscheduled(event.id);
  const { agentId = from.agentId, inputs = from.inputs } = change;
  const to: Schedule = { eventId: event.id, agentId, inputs, ...periodOf(change, from) };
  const moves = !isSamePlace(from, to);
  if (!moves && isDeepStrictEqual(from.inputs, to.inputs)) return false;
  if ((await recordingProgress(trx, event.id)) !== 'awaited') {
    throw RECORDING_BEGUN();
  }
  if (agentId !== from.agentId) await requireAgent(trx, agentId);
  await changeSchedule(trx, from, to, { title: event.title, ...options });
  if (moves) await showSchedule(trx, from, to);
  return true;
}

/** Refuses another processing for what is not to be recorded any more. @throws {HttpError} 400 */
export async function requireProcessable(
  trx: Transaction,
  eventId: string,
  processing: Processing,
): Promise<void> {
  if ((await recordingProgress(trx, eventId)) !== 'awaited') {
    throw UPLOADED_ALREADY();
  }
  if (!processing.workflow) throw NO_WORKFLOW();
}

/** Replaces what is to be done with the recording of a scheduled event. @returns whether that changed anything */
export async function editProcessing(
  trx: Transaction,
  eventId: string,
  processing: Processing,
): Promise<boolean> {
  if (isDeepStrictEqual(await processingOf(trx, eventId), processing)) return false;
  await changeProcessing(trx, eventId, processing);
  return true;
}

async function showSchedule(trx: Transaction, from: Schedule, { eventId, agentId, start, end }: Schedule) {
  const isPostponed = !isSamePlace({ ...from, agentId }, { ...from, agentId, start, end });
  await trx
    .updateTable('events')
    .set({
      ...(isPostponed && {
        start_date: start,
        created: start,
        duration: end.getTime() - start.getTime(),
      }),
      ...(agentId !== from.agentId && { location: agentId }),
    })
    .where('id', '=', eventId)
    .execute();
}
