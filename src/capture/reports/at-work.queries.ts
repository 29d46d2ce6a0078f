import { sql } from 'kysely';
import type { Queryable } from '#platform/database/kysely.ts';
import type { AgentState } from '../agents/agent.schemas.ts';
import { SHOWN_STATE } from '../agents/agents.queries.ts';
import { recordedWithin } from '../schedules/timetable.queries.ts';
import type { Period } from '../states/state.ts';
import { FAILED_LATELY } from './failed.queries.ts';

/** So long after its start nobody has to worry about a recording. */
export const SILENT_SECONDS = 120;

/** A capture agent at this moment. */
export interface AgentAtWork {
  id: string;
  state: AgentState;
  /** Since when it is in that state, as far as that is known. */
  since: Date;
  /** When it last reported; null when it never did. */
  seenAt: Date | null;
  /** Where it says that it can be reached; any text. */
  url: string;
  /** An IANA name. */
  timeZone: string;
  /** What it has to record now. */
  current?: (Period & { title: string; trouble: CurrentTrouble | null }) | undefined;
  /** What it has to record after that. */
  next?: (Period & { title: string }) | undefined;
  /** How many of its recordings failed lately. */
  failed: number;
  /** Whether somebody ought to look after it now. */
  isInTrouble: boolean;
}

/** It never began to record, or it did and is silent since. */
type CurrentTrouble = 'not begun' | 'lost';

/** Some of the agents. */
export interface AgentsAtWork {
  /** How many there are. */
  count: number;
  /** How many of them somebody ought to look after now. */
  inTrouble: number;
  /** Those in trouble first: that should record and do not, with an error, silent; then with failures; by name. */
  agents: AgentAtWork[];
}

/** Which agents: the one of this name, or all with a text in theirs, in capitals or small letters. */
export type WhichAgents = { id: string } | { search: string };

/** Capture agents, and what they have to do now and next. @param most how many to tell of one by one */
export async function agentsAtWork(db: Queryable, which: WhichAgents, most: number): Promise<AgentsAtWork> {
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
    SELECT shown.*, current.title, next.title AS next_title, next.technical_start AS next_start,
      next.technical_end AS next_end
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

interface Row {
  id: string;
  url: string;
  time_zone: string;
  seen_at: Date | null;
  state: AgentState;
  since: Date;
  failed: number;
  rank: number;
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

function agentOf(row: Row): AgentAtWork {
  const current = periodOf(row.title, row.start_date, row.end_date);
  return {
    id: row.id,
    state: row.state,
    since: row.since,
    seenAt: row.seen_at,
    url: row.url,
    timeZone: row.time_zone,
    current: current && { ...current, trouble: row.trouble },
    next: periodOf(row.next_title, row.next_start, row.next_end),
    failed: row.failed,
    isInTrouble: row.rank < 3,
  };
}

function periodOf(title: string | null, start: Date | null, end: Date | null) {
  return title === null || start === null || end === null ? undefined : { title, start, end };
}
