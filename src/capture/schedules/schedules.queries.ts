import { sql } from 'kysely';
import type { Queryable } from '#platform/database/kysely.ts';
import type { Processing } from '#processing/processing.ts';
import type { Schedule } from '../states/state.ts';

/** Returns the workflow for the recording of a scheduled event; undefined if it is not scheduled. */
export async function processingOf(db: Queryable, eventId: string): Promise<Processing | undefined> {
  const schedule = await db
    .selectFrom('schedules')
    .select(['workflow', 'configuration'])
    .where('event_id', '=', eventId)
    .executeTakeFirst();
  return schedule && { ...schedule, configuration: schedule.configuration as Record<string, string> };
}

/** Returns the schedules of events by event identifier, with one query. */
export async function schedulesOf(db: Queryable, eventIds: readonly string[]): Promise<Map<string, Schedule>> {
  if (eventIds.length === 0) return new Map();
  const rows = await db
    .selectFrom('schedules')
    .select(['event_id as eventId', 'agent_id as agentId', 'start_date as start', 'end_date as end', 'inputs'])
    .where(sql<boolean>`event_id = ANY(${[...eventIds]})`)
    .execute();
  return new Map(rows.map((schedule) => [schedule.eventId, schedule]));
}

export async function scheduleOf(db: Queryable, eventId: string): Promise<Schedule | undefined> {
  return (await schedulesOf(db, [eventId])).get(eventId);
}
