import { randomUUID } from 'node:crypto';
import type { Insertable } from 'kysely';
import type { Database } from '#platform/database/kysely.ts';
import type { Event, Schedule } from '#platform/database/schema.ts';
import { insertEvent } from './publication.ts';

/** When an event is to be recorded, and what else a test says of it. */
export type ScheduleValues = Pick<Insertable<Schedule>, 'agent_id'> & {
  start: string;
  end: string;
} & Partial<Pick<Insertable<Schedule>, 'inputs' | 'recording_state'>>;

/** Adds the schedule of an event, and its agent if that is unknown. */
export async function insertSchedule(database: Database, schedule: Insertable<Schedule>): Promise<void> {
  await database
    .insertInto('capture_agents')
    .values({ id: schedule.agent_id })
    .onConflict((known) => known.doNothing())
    .execute();
  await database.insertInto('schedules').values(schedule).execute();
}

/** An event with a schedule, as creating it leaves both in the database, and what `values` changes of the event. */
export async function insertScheduled(
  database: Database,
  { agent_id, start, end, ...schedule }: ScheduleValues,
  values: Partial<Insertable<Event>> = {},
): Promise<string> {
  const id = values.id ?? randomUUID();
  const [start_date, end_date] = [new Date(start), new Date(end)];
  await database.transaction().execute(async (trx) => {
    const times = { start_date, end_date };
    await insertSchedule(trx, { event_id: id, agent_id, ...times, workflow: 'schedule-and-upload', ...schedule });
    await insertEvent(trx, {
      location: agent_id,
      start_date,
      created: start_date,
      duration: end_date.getTime() - start_date.getTime(),
      ...values,
      id,
    });
  });
  return id;
}
