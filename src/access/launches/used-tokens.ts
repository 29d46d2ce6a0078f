import { createHash } from 'node:crypto';
import { sql } from 'kysely';
import type { Database } from '#platform/database/kysely.ts';

/**
 * Marks a token as used, for all processes. The digest of its parts is kept until it expires.
 *
 * @returns false if it was used before
 */
export async function useOnce(database: Database, parts: readonly string[], expiresAt: Date): Promise<boolean> {
  const digest = createHash('sha256').update(JSON.stringify(parts)).digest();
  const { numInsertedOrUpdatedRows } = await database
    .insertInto('used_tokens')
    .values({ digest, expires_at: expiresAt })
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst();
  return Number(numInsertedOrUpdatedRows) === 1;
}

/** Deletes expired digests. Several processes may run it concurrently. @returns the number of deleted digests */
export async function sweepUsedTokens(database: Database): Promise<number> {
  const { numAffectedRows = 0n } = await sql`DELETE FROM used_tokens WHERE expires_at <= now()`.execute(database);
  return Number(numAffectedRows);
}
