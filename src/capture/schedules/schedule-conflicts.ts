import type { Context } from 'hono';
import { sql } from 'kysely';
import { mayAccess } from '#access/acl/acl.queries.ts';
import type { Principal } from '#access/principal.ts';
import type { Database, Queryable, Transaction } from '#platform/database/kysely.ts';
import { inTransaction, TransactionConflict } from '#platform/database/retry.ts';
import { versionedJson } from '#platform/http/answer/version.ts';
import type { Answer } from '#platform/http/endpoint/endpoint.ts';
import type { Period } from '../states/recording-state.ts';
import { CONFLICTS, Conflicts, formatExactly } from './scheduling.schemas.ts';
import { ScheduleOverlap, type TimeClaim } from './write-schedules.ts';

interface Conflict extends Period {
  /** Undefined for a conflict within the claim; empty like the title. */
  eventId?: string;
  /** Empty if the caller may not read the event. */
  title: string;
}

/** A recording conflicts with at least one other; the conflicts are in chronological order. */
export class ScheduleConflict extends Error {
  override name = 'ScheduleConflict';
  readonly conflicts: readonly Conflict[];
  constructor(conflicts: readonly Conflict[]) {
    super(`The schedule has ${conflicts.length} conflicts.`);
    this.conflicts = conflicts;
  }
}

const ATTEMPTS = 10;
/** A rule has as many occurrences, unless the site allows more. */
const MOST_CONFLICTS = 1000;

/** Runs a transaction that schedules recordings, again if its conflicts disappear. @throws {ScheduleConflict} */
export async function withScheduleConflicts<T>(
  database: Database,
  principal: Principal,
  work: (trx: Transaction) => Promise<T>,
): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await inTransaction(database, work);
    } catch (error) {
      if (!(error instanceof ScheduleOverlap)) throw error;
      const conflicts = await conflictsWith(database, principal, error.claim);
      if (conflicts.length > 0) throw new ScheduleConflict(conflicts);
      if (attempt === ATTEMPTS)
        throw new TransactionConflict('The conflicting recordings keep changing.', { cause: error });
    }
  }
}

/** Returns the conflicts of a claim, with other recordings and within itself. */
export async function conflictsWith(db: Queryable, principal: Principal, claim: TimeClaim): Promise<Conflict[]> {
  const conflicts = [...overlapsWithin(claim), ...(await conflictsWithOthers(db, principal, claim))];
  return conflicts.sort((a, b) => a.start.getTime() - b.start.getTime() || a.end.getTime() - b.end.getTime());
}

function overlapsWithin({ occurrences, gapMs }: TimeClaim): Conflict[] {
  const found = new Set<Conflict>();
  let latest: Conflict | undefined;
  for (const { start, end, title } of occurrences) {
    const conflict = { start, end, title };
    if (latest && start.getTime() < latest.end.getTime() + gapMs) found.add(latest).add(conflict);
    if (!latest || end > latest.end) latest = conflict;
  }
  return [...found];
}

/** Returns the first conflicts of a claim with other recordings, by start. */
export async function conflictsWithOthers(db: Queryable, principal: Principal, claim: TimeClaim): Promise<Conflict[]> {
  const { agentId, gapMs, occurrences } = claim;
  // A single multirange: a join with many periods would read every schedule of the agent.
  const isReadable = mayAccess('events', principal, 'read');
  const { rows } = await sql<Conflict>`
    WITH wanted AS (
      SELECT range_agg(tstzrange(start_date, end_date + make_interval(secs => ${gapMs / 1000}))) AS occupied
      FROM unnest(${occurrences.map(({ start }) => start)}::timestamptz[],
        ${occurrences.map(({ end }) => end)}::timestamptz[]) AS occurrence (start_date, end_date)
    ), conflicting AS (
      SELECT event_id FROM schedules WHERE agent_id = ${agentId} AND claimed && (SELECT occupied FROM wanted)
      UNION
      SELECT event_id FROM schedules WHERE agent_id = ${agentId}
        AND claimed <> tstzmultirange(occupied) AND occupied && (SELECT occupied FROM wanted)
    )
    SELECT schedules.start_date AS start, schedules.end_date AS "end",
      CASE WHEN ${isReadable} THEN event_id ELSE '' END AS "eventId",
      CASE WHEN ${isReadable} THEN events.title ELSE '' END AS title
    FROM conflicting JOIN schedules USING (event_id) JOIN events ON events.id = event_id
    WHERE event_id <> ALL(${occurrences.map(({ eventId }) => eventId)})
    ORDER BY schedules.start_date LIMIT ${MOST_CONFLICTS}`.execute(db);
  return rows;
}

function conflictJson({ start, end, title }: Conflict) {
  return { start: formatExactly(start), end: formatExactly(end), title };
}

/** The 409 response of a scheduling request. */
export const CONFLICT_ANSWER: Answer = {
  description: 'The agent has another recording at that time.',
  body: Conflicts,
  example: CONFLICTS,
};

/** Returns the 409 response for schedule conflicts (contract 2.11); throws every other error. */
export function conflictResponse(c: Context, error: unknown): Response {
  if (!(error instanceof ScheduleConflict)) throw error;
  return versionedJson(c, error.conflicts.map(conflictJson), 409);
}
