import { type Expression, sql } from 'kysely';
import type { Queryable } from '#platform/database/kysely.ts';
import type { Processing } from '#processing/processing-request.ts';
import { DEFAULT_CHANNEL, INTERNAL_CHANNEL } from '#publications/publication.ts';
import type { Period, RecordingState, Schedule } from '../states/recording-state.ts';

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

interface TimeOfAgent extends Period {
  agentId: string;
}

export interface PlannedRecording extends Period {
  eventId: string;
  agentId: string;
  title: string;
  /** The status of the event without its prefix, such as `SCHEDULED`. */
  status: string;
  recordingState: RecordingState;
  /** The publication; null if the event is not published. */
  publicationId: string | null;
}

/** Returns recordings of agents in periods, by agent and start, and at most `most` per agent. */
export async function listPlannedRecordings(
  db: Queryable,
  wanted: readonly TimeOfAgent[],
  most: number,
): Promise<PlannedRecording[]> {
  if (wanted.length === 0) return [];
  const period = sql`tstzrange(wanted.first, wanted.last)`;
  const { rows } = await sql<PlannedRecording>`
    SELECT planned.event_id AS "eventId", planned.agent_id AS "agentId", planned.start_date AS start,
      planned.end_date AS "end", event.title, event.status, planned.recording_state AS "recordingState",
      publication.id AS "publicationId"
    FROM unnest(${wanted.map(({ agentId }) => agentId)}::text[], ${wanted.map(({ start }) => start)}::timestamptz[],
      ${wanted.map(({ end }) => end)}::timestamptz[]) AS wanted (agent_id, first, last)
    CROSS JOIN LATERAL (
      SELECT schedules.* FROM (${recordedWithin(sql.ref('wanted.agent_id'), period)}) AS found
      JOIN schedules USING (event_id)
      WHERE start_date < wanted.last AND end_date > wanted.first
      ORDER BY start_date, event_id LIMIT ${most}
    ) AS planned
    CROSS JOIN LATERAL (SELECT title, status FROM events WHERE id = planned.event_id LIMIT 1) AS event
    LEFT JOIN LATERAL (
      SELECT id FROM publications WHERE event_id = planned.event_id AND channel <> ${INTERNAL_CHANNEL}
      ORDER BY channel <> ${DEFAULT_CHANNEL}, channel LIMIT 1
    ) AS publication ON true
    ORDER BY planned.agent_id, planned.start_date, planned.event_id`.execute(db);
  return rows;
}

/** Returns a query for the events that may overlap a period. Both parts use an index of time. */
export function recordedWithin(agentId: Expression<unknown>, period: Expression<unknown>) {
  return sql<{ event_id: string }>`
    SELECT event_id FROM schedules WHERE agent_id = ${agentId} AND claimed && ${period}
    UNION
    SELECT event_id FROM schedules WHERE agent_id = ${agentId}
      AND claimed <> tstzmultirange(occupied) AND occupied && ${period}`;
}
