import type { RawBuilder } from 'kysely';
import type { Queryable } from './kysely.ts';

const BATCHES = 20;

/**
 * Runs a DELETE again while it finds as many rows as its limit, a limited number of times. Several processes may run it
 * concurrently. @returns the number of deleted rows
 */
export async function deleteInBatches(db: Queryable, batch: number, statement: RawBuilder<unknown>): Promise<number> {
  let deleted = 0;
  for (let i = 0; i < BATCHES; i += 1) {
    const { numAffectedRows = 0n } = await statement.execute(db);
    deleted += Number(numAffectedRows);
    if (numAffectedRows < batch) break;
  }
  return deleted;
}
