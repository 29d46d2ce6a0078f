import { sql } from 'kysely';
import type { Queryable } from '#platform/database/kysely.ts';
import type { Period, RecordingState } from '../states/state.ts';

const LATELY_DAYS = 7;

/** When a recording came into its state; what had none of that failed when it was over. */
const SINCE = sql<Date>`coalesce(schedules.recording_state_since, schedules.end_date)`;

/** A condition on schedules, as their index of failures has it: the recording failed within the last week. */
export const FAILED_LATELY = sql<boolean>`schedules.recording_state LIKE '%\\_error'
  AND ${SINCE} > now() - make_interval(days => ${LATELY_DAYS})`;

/** A recording that is not as it should be, or not here yet. */
export interface RecordingOfAgent extends Period {
  eventId: string;
  title: string;
  agentId: string;
  /** What the agent says of where it can be reached; any text. */
  url: string;
  /** The agent's; an IANA name. */
  timeZone: string;
  state: RecordingState;
  since: Date;
}

/** A recording that failed. */
export interface FailedRecording extends RecordingOfAgent {
  /** Whether its agent never said a word of it. */
  isMissed: boolean;
}

/**
 * Recordings that failed within the last week and for which nothing has come, the last one first.
 *
 * @param options.agentId of this agent alone
 * @param options.graceMs how long after its end a recording counts as missed
 */
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

/** Recordings that their agents are uploading, as they say: the one that was recorded last first. */
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
