import { isDeepStrictEqual } from 'node:util';
import type { Transaction } from '../database/kysely.ts';
import { badRequest, notFound } from '../http/errors.ts';
import { requireAgent } from '../recordings/agents/require-agent.ts';
import { periodOf, type SchedulingChange } from '../recordings/schedules/parse.ts';
import { isSamePlace, type Schedule } from '../recordings/schedules/schedule.ts';
import { scheduleOf } from '../recordings/schedules/schedules.queries.ts';
import { changeSchedule } from '../recordings/schedules/write-schedules.ts';
import { recordingProgress } from '../recordings/state.ts';
import type { LockedEvent } from './lock-event.ts';

/**
 * Gives a scheduled event another time, agent or inputs; what is not given stays. With time and agent go the start, the
 * duration and the location that the event shows.
 *
 * @param event locked
 * @param options.gapMs what has to lie between two recordings, in milliseconds
 * @param options.allowConflict whether it may overlap what the agent is to record already
 * @returns whether that changed anything
 * @throws {HttpError} 404 for an event that was never scheduled, 400 when its recording has begun
 * @throws {Overlap} when something else is to be recorded then
 */
export async function reschedule(
  trx: Transaction,
  event: LockedEvent,
  change: SchedulingChange,
  options: { gapMs: number; allowConflict: boolean },
): Promise<boolean> {
  const from = await scheduleOf(trx, event.id);
  if (!from) throw notFound();
  const { agentId = from.agentId, inputs = from.inputs } = change;
  const to: Schedule = { eventId: event.id, agentId, inputs, ...periodOf(change, from) };
  const moves = !isSamePlace(from, to);
  if (!moves && isDeepStrictEqual(from.inputs, to.inputs)) return false;
  if ((await recordingProgress(trx, event.id)) !== 'awaited') {
    throw badRequest("Scheduling can't be changed for events whose recording has begun.");
  }
  if (agentId !== from.agentId) await requireAgent(trx, agentId);
  await changeSchedule(trx, from, to, { title: event.title, ...options });
  if (moves) await showSchedule(trx, from, to);
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
