import { sql } from 'kysely';
import type { Transaction } from '#platform/database/kysely.ts';

/** After so many dead workers an operation may be what kills them: no process works on two of these at once. */
const SUSPECT_LOSSES = 3;

/** @param operation.losses how many workers have died with it */
export function isSuspect({ losses }: { losses: number }): boolean {
  return losses >= SUSPECT_LOSSES;
}

/** Whether the worker has another suspect. Of two that ask at once, the second hears of the first. */
export async function hasAnotherSuspect(trx: Transaction, operationId: number, worker: string): Promise<boolean> {
  await sql`SELECT pg_advisory_xact_lock(hashtextextended(${`suspects of ${worker}`}, 0))`.execute(trx);
  const other = await trx
    .selectFrom('workflow_operations')
    .select('id')
    .where('state', '=', 'running')
    .where('worker', '=', worker)
    .where('losses', '>=', SUSPECT_LOSSES)
    .where('id', '<>', operationId)
    .limit(1)
    .executeTakeFirst();
  return other !== undefined;
}
