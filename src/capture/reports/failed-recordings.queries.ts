import { sql } from 'kysely';
import type { Queryable } from '#platform/database/kysely.ts';
import type { Period, RecordingState } from '../states/recording-state.ts';

const LATELY_DAYS = 7;

/** The start of a recording's state; a recording without any report failed at its end. */
const SINCE = sql<Date>`coalesce(schedules.recording_state_since, schedules.end_date)`;

/** A condition on schedules, equal to their index of failures: the recording failed within the last week. */
export const FAILED_LATELY = sql<boolean>`schedules.recording_state LIKE '%\\_error'
  AND ${SINCE} > now() - make_interval(days => ${LATELY_DAYS})`;

/** A recording that failed or is not uploaded yet. */
export interface RecordingOfAgent extends Period {
  eventId: string;
  title: string;
  agentId: string;
  url: string;
  timeZone: string;
  state: RecordingState;
  since: Date;
}

export interface FailedRecording extends RecordingOfAgent {
  /** True if the agent never reported the recording. */
  isMissed: boolean;
}

/** Returns recordings that failed within the last week and were not delivered, the latest first. */
export async function failedRecordings(
  db: Queryable,
  { agentId, graceMs, most }: { agentId?: string | undefined; graceMs: number; most: number },
): Promise<FailedRecording[]> {
  const ofAgent = agentId === undefined ? sql`` : sql`AND schedules.agent_id = ${agentId}`;
  const missed = sql`schedules.recording_state = 'capture_error' AND (recording_state_since IS NULL
    OR recording_state_since >= end_date + make_interval(secs => ${graceMs / 1000}))`;
  const { rows } = await sql<FailedRecording>`
    SELECT ${SHOWN}, ${missed} AS "isMissed"
    FROM schedules
    CROSS JOIN LATERAL (SELECT title, status FROM events WHERE id = event_id LIMIT 1) AS event
    JOIN capture_agents ON capture_agents.id = schedules.agent_id
    WHERE ${FAILED_LATELY} ${ofAgent} AND event.status = 'RECORDING_FAILURE'
    ORDER BY ${SINCE} DESC, event_id LIMIT ${most}`.execute(db);
  return rows;
}

/** Returns recordings that agents report to be uploading, the latest first. */
export async function uploadingRecordings(
  db: Queryable,
  { agentId, most }: { agentId?: string | undefined; most: number },
): Promise<RecordingOfAgent[]> {
  const ofAgent = agentId === undefined ? sql`` : sql`AND agent_id = ${agentId}`;
  const { rows } = await sql<RecordingOfAgent>`
    WITH event AS (
      SELECT id, title FROM events WHERE status = 'INGESTING' AND recording_state = 'uploading' ${ofAgent}
      ORDER BY start_date DESC, id DESC LIMIT ${most}
    )
    SELECT ${SHOWN}
    FROM event JOIN schedules ON schedules.event_id = event.id
    JOIN capture_agents ON capture_agents.id = schedules.agent_id
    ORDER BY schedules.start_date DESC, event_id`.execute(db);
  return rows;
}

const SHOWN = sql`event_id AS "eventId", event.title, schedules.start_date AS start, schedules.end_date AS "end",
  schedules.agent_id AS "agentId", capture_agents.url, capture_agents.time_zone AS "timeZone",
  schedules.recording_state AS state, ${SINCE} AS since`;
