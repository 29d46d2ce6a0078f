import { sql } from 'kysely';
import { mayAccess } from '#access/acl/acl.queries.ts';
import type { Principal } from '#access/principal.ts';
import type { Queryable } from '#platform/database/kysely.ts';

/** The resources that have views. */
export const RESOURCE_TYPES = ['episode', 'series', 'organization'] as const;
export type ResourceType = (typeof RESOURCE_TYPES)[number];

const HOUR_MS = 3_600_000;

/** The lengths of periods: their unit, the shortest length of one, and the format of its name in exports. */
const PERIODS = {
  hourly: { unit: 'hour', minMs: HOUR_MS, format: 'YYYY-MM-DD HH24":00"' },
  daily: { unit: 'day', minMs: 23 * HOUR_MS, format: 'YYYY-MM-DD' },
  weekly: { unit: 'week', minMs: 7 * 23 * HOUR_MS, format: 'IYYY-IW' },
  monthly: { unit: 'month', minMs: 28 * 23 * HOUR_MS, format: 'YYYY-MM' },
  yearly: { unit: 'year', minMs: 365 * 23 * HOUR_MS, format: 'YYYY' },
} as const;

export type Resolution = keyof typeof PERIODS;
export const RESOLUTIONS = Object.keys(PERIODS) as [Resolution, ...Resolution[]];

/** A period of time and the length of its parts. */
export interface TimeRange {
  from: Date;
  to: Date;
  resolution: Resolution;
  timeZone: string;
}

/** A part of a time range. The first one begins with the range. */
export interface Period {
  start: Date;
  /** The local name, such as `2026-04` for a month. */
  name: string;
  /** The start of the whole hour, day, week, month or year. */
  whole: Date;
}

/** Returns an upper bound of the number of periods in a range. */
export function mostPeriods({ from, to, resolution }: TimeRange): number {
  return Math.ceil((to.getTime() - from.getTime()) / PERIODS[resolution].minMs) + 1;
}

/** Returns the periods of a range in order. They begin in the time zone, so that a day may have 23 or 25 hours. */
export async function periodsOf(database: Queryable, range: TimeRange): Promise<Period[]> {
  const { from, to, resolution, timeZone } = range;
  const { unit, format } = PERIODS[resolution];
  const wholes =
    unit === 'hour'
      ? // One zone moves its clocks by half an hour.
        sql`SELECT DISTINCT date_trunc('hour', moment, ${timeZone}) FROM generate_series(
          date_trunc('hour', ${from}::timestamptz, ${timeZone}), ${to}::timestamptz, '30 minutes') AS moment`
      : sql`SELECT local AT TIME ZONE ${timeZone} FROM generate_series(
          date_trunc(${unit}, ${from}::timestamptz AT TIME ZONE ${timeZone}),
          ${to}::timestamptz AT TIME ZONE ${timeZone}, ${`1 ${unit}`}::interval) AS local`;
  const { rows } = await sql<Period>`
    SELECT greatest(whole, ${from}) AS start, to_char(whole AT TIME ZONE ${timeZone}, ${format}) AS name, whole
    FROM (${wholes}) AS wholes (whole) ORDER BY whole`.execute(database);
  return rows;
}

/** The views of a resource in each period. */
export type ViewsOf = (resourceId: string, period: Period) => number;

/**
 * Counts the views of resources. Views of an event or series are those of the events that the principal may read.
 *
 * @param resources `ids` are not read for the organization, whose views require an administrator
 */
export async function viewsOf(
  database: Queryable,
  { type, ids }: { type: ResourceType; ids: readonly string[] },
  { from, to, resolution, timeZone }: TimeRange,
  principal: Principal,
): Promise<ViewsOf> {
  const id = type === 'episode' ? sql`events.id` : sql`events.series_id`;
  const ofEvents = sql`
    SELECT ${id} AS id, hour, sum(views) AS views FROM event_views JOIN events ON events.id = event_views.event_id
    WHERE ${id} = ANY(${ids}::text[]) AND ${mayAccess('events', principal, 'read')} GROUP BY 1, 2`;
  const hours = type === 'organization' ? sql`SELECT '' AS id, hour, views FROM organization_views` : ofEvents;
  // Time zones take long, so the hours of all events are summed first.
  const { rows } = await sql<{ id: string; whole: Date; views: number }>`
    SELECT id, date_trunc(${PERIODS[resolution].unit}, hour, ${timeZone}::text) AS whole, sum(views)::bigint AS views
    FROM (${hours}) AS hours
    WHERE hour >= date_trunc('hour', ${from}::timestamptz, ${timeZone}::text) AND hour <= ${to}
    GROUP BY 1, 2`.execute(database);
  const keyOf = (resource: string, whole: Date) => `${whole.getTime()} ${resource}`;
  const counted = new Map(rows.map((row) => [keyOf(row.id, row.whole), row.views]));
  return (resourceId, { whole }) => counted.get(keyOf(type === 'organization' ? '' : resourceId, whole)) ?? 0;
}

/** Returns all views of an event, as a column of a query of events. */
export const allViews = sql<number>`(SELECT coalesce(sum(views), 0)::bigint FROM event_views WHERE event_id = events.id)`;
