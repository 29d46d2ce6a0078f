import { sql } from 'kysely';
import type { Transaction } from '#platform/database/kysely.ts';

/** How an attempt of an operation ended that did not succeed. */
export type Outcome = 'failed' | 'retried' | 'deferred' | 'handed back' | 'lost' | 'stopped';

/**
 * Writes down the end of an attempt at operations that are being worked on. What a part of the service is to blame for
 * comes again and again for as long as it lasts; it is counted.
 *
 * @param operationIds those that are running; others are left out
 */
export async function recordAttempts(
  trx: Transaction,
  operationIds: readonly number[],
  { outcome, reason }: { outcome: Outcome; reason: string | null },
): Promise<void> {
  if (operationIds.length === 0) return;
  await sql`
    WITH ended AS (
      SELECT id, worker, coalesce(claimed_at, now()) AS claimed_at FROM workflow_operations
      WHERE id = ANY(${operationIds}) AND state = 'running'
    ), repeated AS (
      UPDATE workflow_attempts SET times = times + 1, ended_at = now(), worker = ended.worker
      FROM ended WHERE ${outcome} = 'deferred' AND workflow_attempts.id = (
        SELECT last.id FROM workflow_attempts last
        WHERE last.operation_id = ended.id ORDER BY last.id DESC LIMIT 1)
        AND workflow_attempts.outcome = ${outcome} AND workflow_attempts.reason IS NOT DISTINCT FROM ${reason}
      RETURNING operation_id
    )
    INSERT INTO workflow_attempts (operation_id, outcome, worker, reason, started_at)
    SELECT id, ${outcome}, worker, ${reason}, claimed_at FROM ended
    WHERE NOT EXISTS (SELECT FROM repeated WHERE repeated.operation_id = ended.id)`.execute(trx);
}
