import { sql } from 'kysely';
import type { Queryable } from '#platform/database/kysely.ts';
import type { Processing } from '#processing/processing.ts';
import type { Schedule } from '../states/state.ts';

/** What is to be done with the recording of a scheduled event; undefined for an event that is not scheduled. */
export async function processingOf(db: Queryable, eventId: string): Promise<Processing | undefined> {
  const schedule = await db
    .selectFrom('schedules')
    .select(['workflow', 'configuration'])
    .where('event_id', '=', eventId)
    .executeTakeFirst();
  return (
    schedule && {
      workflow: schedule.workflow,
      configuration: schedule.configuration as Record<string, string>,
    }
  );
}

/** The schedules of events, by the events' identifiers, in one query; events that are not scheduled have none. */
export async function schedulesOf(db: Queryable, eventIds: readonly string[]): Promise<Map<string, Schedule>> {
  if (eventIds.length === 0) return new Map();
  const rows = await db
    .selectFrom('schedules')
    .select(['event_id as eventId', 'agent_id as agentId', 'start_date as start', 'end_date as end', 'inputs'])
    .where(sql<boolean>`event_id = ANY(${[...eventIds]})`)
    .execute();
  return new Map(rows.map((schedule) => [schedule.eventId, schedule]));
}

/** The schedule of an event, if it has one. */
export async function scheduleOf(db: Queryable, eventId: string): Promise<Schedule | undefined> {
  return (await schedulesOf(db, [eventId])).get(eventId);
}
