import { sql } from 'kysely';
import type { Database } from '#platform/database/kysely.ts';

/** Views are kept by hour for this long, then by day. */
const HOURLY_MONTHS = 13;
/** A sweep merges the hours of this time before, in case no worker ran for a while. */
const MERGED_MONTHS = 2;
const BATCH = 10_000;

/** Counts a view of an event in the current hour. An event that no longer exists is ignored. */
export async function countView(database: Database, eventId: string, timeZone: string): Promise<void> {
  // Does not wait for the disk: all viewers of an hour update the same row, one after the other. The lock waits for a
  // concurrent deletion, which would otherwise break the foreign key.
  await sql`
    WITH counted AS (
      INSERT INTO event_views (event_id, hour, views)
      SELECT id, date_trunc('hour', now(), ${timeZone}), 1
      FROM set_config('synchronous_commit', 'off', true), events WHERE id = ${eventId} FOR KEY SHARE OF events
      ON CONFLICT (event_id, hour) DO UPDATE SET views = event_views.views + 1 RETURNING hour
    )
    INSERT INTO organization_views (hour, views) SELECT hour, 1 FROM counted
    ON CONFLICT (hour) DO UPDATE SET views = organization_views.views + 1`.execute(database);
}

/** Merges old hours into the first hour of their day. @returns the number of merged rows */
export async function mergeViews(database: Database, timeZone: string): Promise<number> {
  const day = sql`date_trunc('day', hour, ${timeZone}::text)`;
  const { rows } = await sql<{ merged: number }>`
    WITH old AS (
      DELETE FROM event_views WHERE (event_id, hour) IN (
        SELECT event_id, hour FROM event_views
        WHERE hour < now() - make_interval(months => ${HOURLY_MONTHS})
          AND hour >= now() - make_interval(months => ${HOURLY_MONTHS + MERGED_MONTHS}) AND hour <> ${day}
        ORDER BY hour LIMIT ${BATCH})
      RETURNING event_id, hour, views
    ), merged AS (
      INSERT INTO event_views (event_id, hour, views)
      SELECT event_id, ${day}, sum(views) FROM old GROUP BY 1, 2
      ON CONFLICT (event_id, hour) DO UPDATE SET views = event_views.views + excluded.views
    )
    SELECT count(*)::integer AS merged FROM old`.execute(database);
  return rows[0]?.merged ?? 0;
}
