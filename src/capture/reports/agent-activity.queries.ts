import { sql } from 'kysely';
import type { Queryable } from '#platform/database/kysely.ts';
import type { AgentState } from '../agents/agent.schemas.ts';
import { SHOWN_STATE } from '../agents/agents.queries.ts';
import { recordedWithin } from '../schedules/timetable.queries.ts';
import type { Period } from '../states/recording-state.ts';
import { FAILED_LATELY } from './failed-recordings.queries.ts';

/** A recording without a report this long after its start is in trouble. */
export const SILENT_SECONDS = 120;

export interface AgentActivity {
  id: string;
  state: AgentState;
  since: Date;
  seenAt: Date | null;
  /** The reported address; any text. */
  url: string;
  /** An IANA time zone. */
  timeZone: string;
  current?: (Period & { title: string; trouble: CurrentTrouble | null }) | undefined;
  next?: (Period & { title: string }) | undefined;
  failed: number;
  isInTrouble: boolean;
}

/** The recording never started, or the agent stopped reporting. */
type CurrentTrouble = 'not begun' | 'lost';

export interface AgentActivityList {
  count: number;
  inTrouble: number;
  /** Sorted: agents with a recording in trouble, in an error state, offline, with recent failures; then by name. */
  agents: AgentActivity[];
}

/** Selects one agent by name, or all whose name contains a text in any case. */
type WhichAgents = { id: string } | { search: string };

/** Returns agents with their current and next recordings. @param most the maximum length of the list */
export async function listAgentActivity(db: Queryable, which: WhichAgents, most: number): Promise<AgentActivityList> {
  const isMeant = 'id' in which ? sql`id = ${which.id}` : sql`strpos(lower(id), lower(${which.search}::text)) > 0`;
  const now = sql`tstzrange(now(), now(), '[]')`;
  const { rows } = await sql<Row>`
    WITH known AS (
      SELECT id, url, time_zone, seen_at, ${SHOWN_STATE} AS state,
        coalesce(CASE WHEN state = ${SHOWN_STATE} THEN state_since END, seen_at, known_since) AS since
      FROM capture_agents WHERE NOT forgotten AND ${isMeant}
    ), failed AS (
      SELECT agent_id AS id, count(*) AS failed FROM schedules WHERE ${FAILED_LATELY} GROUP BY agent_id
    ), judged AS (
      SELECT known.*, due.*, coalesce(failed.failed, 0) AS failed, CASE
          WHEN due.trouble IS NOT NULL THEN 0
          WHEN state = 'error' THEN 1
          WHEN state = 'offline' THEN 2
          WHEN failed.failed > 0 THEN 3
          ELSE 4 END AS rank
      FROM known LEFT JOIN failed USING (id)
      LEFT JOIN LATERAL (
        SELECT event_id, start_date, end_date, CASE
            WHEN start_date > now() - make_interval(secs => ${SILENT_SECONDS}) THEN NULL
            WHEN recording_state = '' THEN 'not begun'
            WHEN recording_state = 'capturing' AND known.state = 'offline' THEN 'lost' END AS trouble
        FROM (${recordedWithin(sql.ref('known.id'), now)}) AS found JOIN schedules USING (event_id)
        WHERE start_date <= now() AND end_date > now()
        ORDER BY trouble NULLS LAST, start_date DESC, event_id LIMIT 1
      ) AS due ON true
    ), shown AS (
      SELECT *, count(*) OVER () AS count, count(*) FILTER (WHERE rank < 3) OVER () AS in_trouble FROM judged
      ORDER BY rank, lower(id), id LIMIT ${most}
    )
    SELECT shown.*, seen_at AS "seenAt", time_zone AS "timeZone", rank < 3 AS "isInTrouble", current.title,
      next.title AS next_title, next.technical_start AS next_start, next.technical_end AS next_end
    FROM shown
    LEFT JOIN LATERAL (SELECT title FROM events WHERE id = shown.event_id LIMIT 1) AS current ON true
    LEFT JOIN LATERAL (
      SELECT title, technical_start, technical_end FROM events
      WHERE agent_id = shown.id AND agent_id <> '' AND technical_start > now() ORDER BY technical_start LIMIT 1
    ) AS next ON true
    ORDER BY rank, lower(shown.id), shown.id`.execute(db);
  const { count = 0, in_trouble: inTrouble = 0 } = rows[0] ?? {};
  return { count, inTrouble, agents: rows.map(agentOf) };
}

interface Row extends Omit<AgentActivity, 'current' | 'next'> {
  trouble: CurrentTrouble | null;
  start_date: Date | null;
  end_date: Date | null;
  title: string | null;
  next_title: string | null;
  next_start: Date | null;
  next_end: Date | null;
  count: number;
  in_trouble: number;
}

function agentOf(row: Row): AgentActivity {
  const { id, state, since, seenAt, url, timeZone, failed, isInTrouble } = row;
  const current = periodOf(row.title, row.start_date, row.end_date);
  const next = periodOf(row.next_title, row.next_start, row.next_end);
  const agent = { id, state, since, seenAt, url, timeZone, failed, isInTrouble };
  return { ...agent, current: current && { ...current, trouble: row.trouble }, next };
}

function periodOf(title: string | null, start: Date | null, end: Date | null) {
  return title === null || start === null || end === null ? undefined : { title, start, end };
}
