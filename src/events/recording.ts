import { sql } from 'kysely';
import type { Queryable } from '../database/kysely.ts';
import { hasMedia } from '../scheduling/recorded.ts';
import { awaitsRecording } from '../scheduling/schedule.ts';

/** How far the recording of an event is. */
export type RecordingProgress =
  /** It was never scheduled. */
  | 'unscheduled'
  /** It is still to come. */
  | 'awaited'
  /** It has begun, or come. */
  | 'begun';

/**
 * How far the recording of an event is; undefined when there is no such event. What a client may change of a scheduled
 * event depends on this alone, whatever the time is.
 */
export async function recordingProgress(
  db: Queryable,
  eventId: string,
): Promise<RecordingProgress | undefined> {
  const event = await db
    .selectFrom('events')
    .select(['agent_id', 'recording_state', 'processing_state'])
    .select(hasMedia(sql.ref('events.id')).as('recorded'))
    .where('id', '=', eventId)
    .executeTakeFirst();
  if (!event) return undefined;
  if (event.agent_id === '') return 'unscheduled';
  return awaitsRecording(event) && !event.recorded ? 'awaited' : 'begun';
}
