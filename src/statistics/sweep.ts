import { sql } from 'kysely';
import type { Database } from '#platform/database/kysely.ts';

/** How long it is told how it went: a year, and the month of the year before it. */
const KEPT_MONTHS = 13;
/** How long it is told of each hour how much was stored; after that, of each day. */
const HOURLY_DAYS = 32;

/** Forgets what happened long ago. @returns how many rows that were */
export async function sweepStatistics(database: Database): Promise<number> {
  const counts = await sql`
    DELETE FROM statistics_counts WHERE period IN ('hour', 'day')
      AND start < now() - make_interval(months => ${KEPT_MONTHS})`.execute(database);
  const sizes = await sql`
    DELETE FROM storage_sizes WHERE hour < now() - make_interval(months => ${KEPT_MONTHS})
      OR (hour < now() - make_interval(days => ${HOURLY_DAYS}) AND EXISTS (
        SELECT FROM storage_sizes AS earlier
        WHERE earlier.hour >= date_trunc('day', storage_sizes.hour, 'UTC') AND earlier.hour < storage_sizes.hour))`.execute(
    database,
  );
  return Number((counts.numAffectedRows ?? 0n) + (sizes.numAffectedRows ?? 0n));
}
