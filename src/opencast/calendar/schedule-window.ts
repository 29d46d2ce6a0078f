import { createHash } from 'node:crypto';
import { type RawBuilder, sql } from 'kysely';
import { LONGEST_MS } from '#capture/schedules/scheduling.schemas.ts';
import type { Queryable } from '#platform/database/kysely.ts';

/** Time after its end that a recording stays in the calendar, because agents may start late. */
const STAYS = '1 hour';
/** Version of the format of calendars. A new version changes all tags. */
const FORM = 2;
const BATCH = 500;

/** The requested part of a schedule. */
export interface CalendarWindow {
  /** All agents if undefined. */
  agentId: string | undefined;
  seriesId: string | undefined;
  /** Only recordings that start before; all if undefined. */
  cutoff: Date | undefined;
}

/** A scheduled recording with its event. */
export type Planned = Awaited<ReturnType<typeof batch>>[number];

/**
 * Returns a text that changes with the calendar, from one small query: changes are recorded per agent, and recordings
 * that enter or leave the window change the last one before its limits.
 */
export async function calendarTag(
  db: Queryable,
  { agentId = '', seriesId = '', cutoff }: CalendarWindow,
): Promise<string> {
  const last = (column: 'start_date' | 'end_date', before: RawBuilder<unknown>) => sql`(
    SELECT event_id FROM schedules WHERE agent_id = ${agentId} AND ${sql.ref(column)} < ${before}
    ORDER BY ${sql.ref(column)} DESC, event_id DESC LIMIT 1)`;
  const ahead = cutoff ? last('start_date', sql`${cutoff}::timestamptz`) : sql`NULL::text`;
  const { rows } = await sql<{ changes: string[]; past: string | null; ahead: string | null }>`
    SELECT ARRAY(SELECT id::text FROM calendar_changes WHERE agent_id = ${agentId} ORDER BY id) AS changes,
      ${last('end_date', stays())} AS past, ${ahead} AS ahead`.execute(db);
  const parts = [FORM, agentId, seriesId, cutoff !== undefined, rows[0]];
  return createHash('sha256').update(JSON.stringify(parts)).digest('base64url').slice(0, 27);
}

/** Reads the recordings of the window by start, in batches. */
export async function* plannedRecordings(db: Queryable, window: CalendarWindow): AsyncGenerator<Planned[]> {
  for (let last: Planned | undefined; ; ) {
    const rows: Planned[] = await batch(db, window, last);
    if (rows.length > 0) yield rows;
    if (rows.length < BATCH) return;
    last = rows.at(-1);
  }
}

function batch(
  db: Queryable,
  { agentId, seriesId, cutoff }: CalendarWindow,
  after: { event_id: string; start: Date } | undefined,
) {
  let planned = db
    .selectFrom('schedules')
    .innerJoin('events', 'events.id', 'schedules.event_id')
    .selectAll('events')
    .select([
      'schedules.event_id',
      'schedules.agent_id as agent',
      'schedules.start_date as start',
      'schedules.end_date as end',
      'schedules.inputs',
      'schedules.workflow',
      'schedules.configuration as properties',
      'schedules.changed_at',
    ])
    .where('schedules.end_date', '>', sql<Date>`${stays()}`)
    // For the index: no recording is longer, and the past of an agent is long.
    .where('schedules.start_date', '>', sql<Date>`${stays()} - make_interval(secs => ${LONGEST_MS / 1000})`);
  if (agentId !== undefined) planned = planned.where('schedules.agent_id', '=', agentId);
  if (seriesId !== undefined) planned = planned.where('events.series_id', '=', seriesId);
  if (cutoff) planned = planned.where('schedules.start_date', '<', cutoff);
  if (after) {
    planned = planned.where(
      sql<boolean>`(schedules.start_date, schedules.event_id) > (${after.start}, ${after.event_id})`,
    );
  }
  return planned.orderBy('schedules.start_date').orderBy('schedules.event_id').limit(BATCH).execute();
}

function stays() {
  return sql`now() - ${STAYS}::interval`;
}
