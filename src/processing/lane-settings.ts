import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { Database } from '#platform/database/kysely.ts';

/** The channel that notifies processes with workers of new settings. */
export const SETTINGS_CHANNEL = 'inlet_settings';

/** The settings of a lane. Without `concurrency`, each process uses its default. */
export type LaneSetting = Awaited<ReturnType<typeof listLaneSettings>>[number];

/** Tests whether a lane is paused. @param lane an expression */
export function isPaused(lane: RawBuilder<unknown>): RawBuilder<SqlBool> {
  return sql<SqlBool>`EXISTS (SELECT FROM lane_settings WHERE lane_settings.lane = ${lane} AND lane_settings.paused)`;
}

export function listLaneSettings(database: Database) {
  return database
    .selectFrom('lane_settings')
    .select(['lane', 'paused', 'concurrency', 'changed_by as changedBy', 'changed_at as changedAt'])
    .execute();
}

/** Changes settings of a lane. Workers have skipped operations during a pause: they are delivered again. */
export async function updateLane(
  database: Database,
  lane: string,
  { paused, concurrency, by }: { paused?: boolean; concurrency?: number | null; by: string },
): Promise<void> {
  const values = { paused, concurrency, changed_by: by, changed_at: sql<Date>`now()` };
  await database.transaction().execute(async (trx) => {
    await trx
      .insertInto('lane_settings')
      .values({ lane, ...values })
      .onConflict((known) => known.column('lane').doUpdateSet(values))
      .execute();
    if (paused === false) {
      await trx
        .updateTable('workflow_operations')
        .set({ delivered_at: null })
        .where('state', '=', 'ready')
        .where('lane', '=', lane)
        .where('delivered_at', 'is not', null)
        .execute();
    }
    await sql`SELECT pg_notify(${SETTINGS_CHANNEL}, '')`.execute(trx);
  });
}
