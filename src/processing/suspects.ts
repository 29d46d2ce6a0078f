import { sql } from 'kysely';
import type { Transaction } from '#platform/database/kysely.ts';

/** After this many dead workers an operation may be the cause: a process runs only one such operation at a time. */
const SUSPECT_LOSSES = 3;

/** @param operation.losses the number of workers that died with it */
export function isSuspect({ losses }: { losses: number }): boolean {
  return losses >= SUSPECT_LOSSES;
}

/** Reports whether the worker runs another suspect. Of two concurrent calls, the second sees the first. */
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
