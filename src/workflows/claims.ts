import { sql } from 'kysely';
import type { Database, Transaction } from '../database/kysely.ts';
import { couldSpeakFor, type Watched } from '../database/watch.ts';
import { advance, type Change, ClaimLost } from './advance.ts';

/** How long a worker may be silent before its operation is given to another. */
const SILENCE_SECONDS = 12;
/** How often a running operation says that it lives; several times within the silence allowed. */
export const HEARTBEAT_MS = 3_000;
/** After so many dead workers in a row the file, not the worker, is taken to be the reason. */
const MAX_LOSSES = 25;

/** An operation that this worker holds; `token` fences every later write. */
export interface Claim {
  operationId: number;
  workflowId: number;
  eventId: string;
  token: number;
  operation: string;
  configuration: Record<string, string>;
  attempt: number;
  maxAttempts: number;
  timeLimitMs: number;
  requestId: string;
}

/** Takes an operation that is ready. @returns undefined when it is not: done, gone, or held by another worker */
export async function claimOperation(
  database: Database,
  operationId: number,
  worker: string,
): Promise<Claim | undefined> {
  const found = await database
    .selectFrom('workflow_operations')
    .select('workflow_id')
    .where('id', '=', operationId)
    .where('state', '=', 'ready')
    .executeTakeFirst();
  if (!found) return undefined;
  try {
    return await database.transaction().execute(async (trx) => {
      await advance(trx, found.workflow_id, { kind: 'claimed', operationId, worker });
      return readClaim(trx, operationId);
    });
  } catch (error) {
    if (error instanceof ClaimLost) return undefined;
    throw error;
  }
}

async function readClaim(trx: Transaction, operationId: number): Promise<Claim> {
  const row = await trx
    .selectFrom('workflow_operations as o')
    .innerJoin('workflows as w', 'w.id', 'o.workflow_id')
    .select([
      'o.id as operationId',
      'o.workflow_id as workflowId',
      'w.event_id as eventId',
      'o.fencing_token as token',
      'o.operation',
      'o.configuration',
      'o.attempts',
      'o.max_attempts as maxAttempts',
      'o.time_limit_ms as timeLimitMs',
      'w.request_id as requestId',
    ])
    .where('o.id', '=', operationId)
    .executeTakeFirstOrThrow();
  const { attempts, configuration, ...rest } = row;
  return { ...rest, attempt: attempts + 1, configuration: configuration as Record<string, string> };
}

/** Says that the worker lives, and how far it is. @returns false when the claim is lost */
export async function heartbeat(database: Database, claim: Claim, progress: number): Promise<boolean> {
  const result = await database
    .updateTable('workflow_operations')
    .set({ heartbeat_at: sql<Date>`now()`, progress })
    .where('id', '=', claim.operationId)
    .where('state', '=', 'running')
    .where('fencing_token', '=', claim.token)
    .executeTakeFirst();
  return result.numUpdatedRows > 0n;
}

/** Ends a claim and writes its result in the same transaction. @throws {ClaimLost} */
export async function endClaim(
  database: Database,
  claim: Claim,
  change: Extract<Change, { token: number }>,
  commit: (trx: Transaction) => Promise<void> = async () => undefined,
): Promise<void> {
  await database.transaction().execute(async (trx) => {
    await advance(trx, claim.workflowId, change);
    await commit(trx);
  });
}

/**
 * Gives operations of workers that fell silent to others, and fails those that keep losing their workers.
 *
 * @param seen of the database: an outage of it is no silence of the workers
 * @returns the operations taken from their workers
 */
export async function recoverLostOperations(
  database: Database,
  seen: Watched | undefined,
): Promise<number[]> {
  const silent = sql<boolean>`(heartbeat_at < now() - make_interval(secs => ${SILENCE_SECONDS})
    AND ${couldSpeakFor(SILENCE_SECONDS, seen)})`;
  const lost = await database
    .selectFrom('workflow_operations')
    .select(['id', 'workflow_id', 'fencing_token', 'losses'])
    .where('state', '=', 'running')
    .where(silent)
    .execute();
  const recovered: number[] = [];
  for (const { id, workflow_id, fencing_token: token, losses } of lost) {
    const change: Change =
      losses + 1 < MAX_LOSSES
        ? { kind: 'lost', operationId: id, token }
        : {
            kind: 'failed',
            operationId: id,
            token,
            reason: `The worker died ${MAX_LOSSES} times while it worked on this recording.`,
            log: '',
          };
    try {
      await database.transaction().execute(async (trx) => {
        // The worker may have spoken since the rows were read.
        const still = await trx
          .selectFrom('workflow_operations')
          .select('id')
          .where('id', '=', id)
          .where(silent)
          .executeTakeFirst();
        if (!still) return;
        await advance(trx, workflow_id, change);
        recovered.push(id);
      });
    } catch (error) {
      if (!(error instanceof ClaimLost)) throw error;
    }
  }
  return recovered;
}
