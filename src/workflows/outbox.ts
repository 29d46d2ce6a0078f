import { sql } from 'kysely';
import type { Database } from '../database/kysely.ts';

const BATCH = 200;
/** After this long without a claim a delivery is looked into again. */
const DELIVERY_LEASE_SECONDS = 30;

/** An operation for the relay to hand to the queue. */
export interface Delivery {
  operationId: number;
  operation: string;
  /** Counts the deliveries of this operation; makes the job's identifier unique. */
  delivery: number;
  /** Whether it was delivered before and nobody took it: the job may be waiting still, or lost. */
  overdue: boolean;
}

/**
 * Takes the operations that are ready and not on their way to a worker. They count as delivered from here on; when
 * the queue refuses them, `undeliver` says so.
 */
export async function takeDeliveries(database: Database): Promise<Delivery[]> {
  const { rows } = await sql<Delivery>`
    UPDATE workflow_operations o
    SET delivered_at = now(), deliveries = o.deliveries + CASE WHEN due.overdue THEN 0 ELSE 1 END
    FROM (
      SELECT id, delivered_at IS NOT NULL AS overdue
      FROM workflow_operations
      WHERE state = 'ready' AND not_before <= now()
        AND (delivered_at IS NULL OR delivered_at < now() - make_interval(secs => ${DELIVERY_LEASE_SECONDS}))
      ORDER BY not_before, id
      LIMIT ${BATCH}
      FOR UPDATE SKIP LOCKED
    ) due
    WHERE o.id = due.id
    RETURNING o.id AS "operationId", o.operation, o.deliveries AS delivery, due.overdue`.execute(database);
  return rows;
}

/** The queue did not take these operations, or lost them: they are due again at once. */
export async function undeliver(database: Database, operationIds: readonly number[]): Promise<void> {
  if (operationIds.length === 0) return;
  await database
    .updateTable('workflow_operations')
    .set({ delivered_at: null })
    .where('id', 'in', operationIds)
    .where('state', '=', 'ready')
    .execute();
}
