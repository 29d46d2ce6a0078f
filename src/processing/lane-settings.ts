import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { Database } from '#platform/database/kysely.ts';

/** The channel on which processes with workers hear that something was set. */
export const SETTINGS_CHANNEL = 'inlet_settings';

/** What an operator has set of a lane. */
export interface LaneSetting {
  lane: string;
  paused: boolean;
  /** Operations at once in each process; null for what that was started with. */
  concurrency: number | null;
  changedBy: string;
  changedAt: Date;
}

/** Whether nothing of a lane is to be begun. @param lane an expression */
export function isPaused(lane: RawBuilder<unknown>): RawBuilder<SqlBool> {
  return sql<SqlBool>`EXISTS (SELECT FROM lane_settings WHERE lane_settings.lane = ${lane} AND lane_settings.paused)`;
}

/** The lanes of which something was set. */
export async function laneSettings(database: Database): Promise<LaneSetting[]> {
  const rows = await database.selectFrom('lane_settings').selectAll().execute();
  return rows.map(({ changed_by: changedBy, changed_at: changedAt, ...row }) => ({
    ...row,
    changedBy,
    changedAt,
  }));
}

/**
 * Sets something of a lane; what is undefined stays. What the queue has of a lane that goes on is delivered anew: while
 * it was paused, workers have let it pass.
 */
export async function setLane(
  database: Database,
  lane: string,
  { paused, concurrency, by }: { paused?: boolean; concurrency?: number | null; by: string },
): Promise<void> {
  const given = {
    ...(paused !== undefined && { paused }),
    ...(concurrency !== undefined && { concurrency }),
  };
  const values = { ...given, changed_by: by, changed_at: sql<Date>`now()` };
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
