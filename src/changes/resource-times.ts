import { sql } from 'kysely';
import type { Database, Transaction } from '#platform/database/kysely.ts';

const CHANGES_AT_ONCE = 5_000;

/** A published event, a series or a playlist that exists or existed. */
export interface ChangedResource {
  kind: 'event' | 'series' | 'playlist';
  id: string;
  /** The time of its last change, in milliseconds since 1970. */
  time: number;
}

/**
 * Gives the resources of numbered changes a new time. An event gets its first one when it is published. The access
 * control list of a series is that of events without their own. The caller holds the lock of the counter.
 *
 * @returns false if further changes wait
 */
export async function recordTimes(trx: Transaction): Promise<boolean> {
  const counter = trx.selectFrom('changes_counter').select(['timed', 'last']);
  const { timed, last } = await counter.executeTakeFirstOrThrow();
  const next = Math.min(last, timed + CHANGES_AT_ONCE);
  // Numbers that the planner knows, and the offsets, keep it from reading all events for a few changes.
  await sql`
    WITH fresh AS (
      SELECT * FROM changes
      WHERE number > ${timed}::bigint AND number <= ${next}::bigint AND kind IN ('event.changed', 'event.deleted',
        'publication.published', 'publication.retracted', 'series.created', 'series.changed', 'series.deleted',
        'playlist.created', 'playlist.changed', 'playlist.deleted')
    ), touched AS (
      SELECT 'event' AS kind, event_id AS id, number, kind = 'publication.published' AS appears FROM fresh
        WHERE event_id IS NOT NULL
      UNION ALL SELECT 'series', series_id, number, true FROM fresh WHERE event_id IS NULL AND series_id IS NOT NULL
      UNION ALL SELECT 'playlist', playlist_id, number, true FROM fresh WHERE playlist_id IS NOT NULL
      UNION ALL SELECT 'event', inheriting.id, number, false FROM fresh, LATERAL (
          SELECT id FROM events WHERE events.series_id = fresh.series_id AND NOT own_acl
            AND NOT EXISTS (SELECT FROM event_acl WHERE event_acl.event_id = events.id) OFFSET 0
        ) AS inheriting
        WHERE fresh.event_id IS NULL AND (fresh.kind <> 'series.changed' OR fresh.data->'parts' ? 'acl')
    ), placed AS (
      SELECT kind, id, (row_number() OVER (ORDER BY min(number), kind DESC, id) - 1) / 100 AS step FROM touched
      WHERE appears OR EXISTS (SELECT FROM resource_times AS r WHERE (r.kind, r.id) = (touched.kind, touched.id)
        OFFSET 0)
      GROUP BY kind, id
    ), taken AS MATERIALIZED (
      SELECT take_times(steps) - steps AS first FROM (SELECT max(step) AS steps FROM placed) AS counted
      WHERE steps IS NOT NULL
    ), written AS (
      INSERT INTO resource_times (kind, id, time) SELECT kind, id, first + step FROM placed, taken
      ON CONFLICT (kind, id) DO UPDATE SET time = excluded.time RETURNING 1
    )
    SELECT count(*) FROM written`.execute(trx);
  // A separate statement, because the one above has updated the row.
  await trx.updateTable('changes_counter').set({ timed: next }).execute();
  return next === last;
}

/**
 * Returns the resources that changed after a time, in the order of their times: about as many as wanted, and all that
 * share the last time.
 *
 * @returns until the time up to which everything has been returned, also by transactions that have not committed yet
 */
export async function changedResources(
  database: Database,
  since: number,
  most: number,
): Promise<{ resources: ChangedResource[]; until: number; hasMore: boolean }> {
  const now = await presentTime(database);
  const { rows } = await sql<ChangedResource & { latest: number }>`
    SELECT kind, id, time::float8 AS time,
      (SELECT max(time) FROM resource_times WHERE time <= ${now})::float8 AS latest
    FROM resource_times WHERE time > ${since} AND time <= ${now}
    ORDER BY time FETCH FIRST ${sql.lit(most)} ROWS WITH TIES`.execute(database);
  const last = rows.at(-1);
  const hasMore = last !== undefined && last.time < last.latest;
  const resources = rows.map(({ kind, id, time }) => ({ kind, id, time }));
  return { resources, until: hasMore ? last.time : now, hasMore };
}

/** Returns a time after those of all resources so far, and before those of all later changes. */
async function presentTime(database: Database): Promise<number> {
  for (;;) {
    const time = await database.transaction().execute(async (trx) => {
      await trx.selectFrom('changes_counter').select('last').forUpdate().execute();
      if (!(await recordTimes(trx))) return undefined;
      const { rows } = await sql<{ time: number }>`SELECT take_times(0)::float8 AS time`.execute(trx);
      return rows[0]?.time;
    });
    if (time !== undefined) return time;
  }
}
