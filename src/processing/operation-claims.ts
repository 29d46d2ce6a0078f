import { sql } from 'kysely';
import { CHANGES_CHANNEL } from '#changes/record-changes.ts';
import { isStale, type ObservedPeriod, observedFor } from '#platform/database/database-watch.ts';
import type { Database, Transaction } from '#platform/database/kysely.ts';
import { wakeListeners } from '#platform/database/notifications.ts';
import { PREPARED } from '#platform/database/prepared.ts';
import { inRetriedTransaction, inTransaction, type OutageWait } from '#platform/database/retry.ts';
import type { TraceParent } from '#platform/telemetry/tracing.ts';
import { advance } from './advance-workflow.ts';
import { ClaimLost, READY_CHANNEL } from './locked-workflow.ts';
import { PROGRESS_STEPS } from './pieces.ts';
import type { Change, Ending } from './workflow-change.ts';
import type { OperationState } from './workflow-states.ts';

/** The time a worker may be silent before its operation is given to another. */
const SILENCE_SECONDS = 12;
/** The interval of heartbeats; several of them fit into the allowed silence. */
export const HEARTBEAT_MS = 3_000;
/** After this many dead workers, the file is assumed to be the cause. At about 15 s each, that takes less than three minutes. */
const MAX_LOSSES = 10;
/** After this many dead workers an operation may be the cause: a process runs only one such operation at a time. */
const SUSPECT_LOSSES = 3;

/** Workers change states all the time; their commits must not wait for each other. */
const WITHOUT_NOTIFICATION = { notifies: false };

/** An operation that this worker holds; `token` fences every later write. */
export interface Claim {
  operationId: number;
  workflowId: number;
  eventId: string;
  token: number;
  operation: string;
  /** The settings from the workflow definition. */
  configuration: Readonly<Record<string, string>>;
  /** The settings of the whole workflow, with those of the client. */
  workflowConfiguration: Readonly<Record<string, string>>;
  attempt: number;
  /** From 0 to 1: what its pieces have done. */
  progress: number;
  /** The work of a piece; null for an operation of the workflow. */
  piece: unknown;
  /** The number of attempts that failed because of the service. */
  deferrals: number;
  maxAttempts: number;
  timeLimitMs: number;
  requestId: string;
  /** The trace in which its workflow was started, if any. */
  traceparent: TraceParent | null;
  begun: Date;
  /** The time of its first claim; null before. */
  startedAt: Date | null;
}

/**
 * Takes a ready operation. If a commit succeeds but its answer is lost, the operation is recovered like that of a
 * silent worker. @returns undefined when it is not available to this worker: it is delivered again
 */
export async function claimOperation(
  database: Database,
  operationId: number,
  worker: string,
  patience: OutageWait,
): Promise<Claim | undefined> {
  const ref = { readyOperation: operationId };
  const change = { kind: 'claimed', operationId, worker } as const;
  try {
    const { channels, step } = await inRetriedTransaction(database, patience, async (trx) => {
      const { channels, piece, steps } = await advance(trx, ref, change, WITHOUT_NOTIFICATION);
      const step = piece ?? steps.find(({ id }) => id === operationId);
      if (step && step.losses >= SUSPECT_LOSSES) await assertOnlySuspect(trx, operationId, worker);
      return { channels, step };
    });
    wakeListeners(database, channels);
    return step && { ...step, operationId, attempt: step.attempts + 1 };
  } catch (error) {
    if (error instanceof ClaimLost) return undefined;
    throw error;
  }
}

/** Of two concurrent claims, the second sees the first. @throws {ClaimLost} if the worker runs another suspect */
async function assertOnlySuspect(trx: Transaction, operationId: number, worker: string): Promise<void> {
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
  if (other) throw new ClaimLost('The worker has another operation that may kill it.');
}

/** Reports that the worker lives, and its progress. @returns false when the claim is lost */
export async function heartbeat(database: Database, claim: Claim, progress: number): Promise<boolean> {
  const { rows } = await sql<{ held: number }>`
    ${PREPARED} WITH before AS (
      SELECT id, floor(progress * ${PROGRESS_STEPS}) AS parts FROM workflow_operations WHERE id = ${claim.operationId}
    ), held AS (
      UPDATE workflow_operations o SET heartbeat_at = now(), progress = ${progress} FROM before
      WHERE o.id = before.id AND o.state = 'running' AND o.fencing_token = ${claim.token}
      RETURNING before.parts
    ), told AS (
      INSERT INTO changes (kind, event_id, series_id, data)
      SELECT 'operation.progress', w.event_id, (SELECT series_id FROM events WHERE id = w.event_id),
        jsonb_build_object('workflow', w.id, 'state', w.state, 'operation', ${claim.operation}::text, 'progress', ${progress}::float8)
      FROM held, workflows w WHERE w.id = ${claim.workflowId} AND ${claim.piece === null} AND floor(${progress}::real * ${PROGRESS_STEPS}) > held.parts
      RETURNING id
    )
    SELECT (SELECT count(*) FROM held) AS held,
      (SELECT count(pg_notify(${CHANGES_CHANNEL}, '')) FROM told) AS told`.execute(database);
  return (rows[0]?.held ?? 0) > 0;
}

/** The state of an operation after its claim; `ready` unless named. */
const END_STATES: Partial<Record<Ending['kind'], OperationState>> = {
  succeeded: 'succeeded',
  failed: 'failed',
  divided: 'divided',
};

/**
 * Ends a claim and writes its result in the same transaction. Waits for a database that is down: a result that took
 * hours must not be lost to an outage. The commit may run several times. @throws {ClaimLost}
 */
export async function endClaim(
  database: Database,
  claim: Claim,
  change: Ending,
  patience: OutageWait,
  commit: (trx: Transaction) => Promise<void> = async () => undefined,
): Promise<void> {
  const workflow = await inRetriedTransaction(database, patience, async (trx, doubtful) => {
    if (doubtful && (await isClaimEnded(trx, claim, change))) return undefined;
    const advanced = await advance(trx, claim.workflowId, change, WITHOUT_NOTIFICATION);
    await commit(trx);
    return advanced;
  });
  wakeListeners(database, workflow?.channels ?? [CHANGES_CHANNEL, READY_CHANNEL]);
}

/** Reports whether a commit whose answer was lost has succeeded. */
async function isClaimEnded(trx: Transaction, { operationId, workflowId, token }: Claim, change: Ending) {
  // Locks as `advance` does, and so waits for a commit that is still running.
  await trx.selectFrom('workflows').select('id').where('id', '=', workflowId).forUpdate().execute();
  const ended = await trx
    .selectFrom('workflow_operations')
    .select('id')
    .where('id', '=', operationId)
    .where('fencing_token', '=', token)
    .where('state', '=', END_STATES[change.kind] ?? 'ready')
    .executeTakeFirst();
  return ended !== undefined;
}

/** Gives operations of silent workers to others, and fails those that keep losing their workers. */
export async function recoverLostOperations(database: Database, seen: ObservedPeriod | undefined): Promise<number[]> {
  const silent = sql<boolean>`(${isStale(sql.ref('heartbeat_at'), SILENCE_SECONDS)}
    AND ${observedFor(SILENCE_SECONDS, seen)})`;
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
            reason: `The worker died ${MAX_LOSSES} times while it processed this recording.`,
            log: '',
          };
    try {
      const taken = await inTransaction(database, async (trx) => {
        // The worker may have reported since the rows were read.
        const still = await trx
          .selectFrom('workflow_operations')
          .select('id')
          .where('id', '=', id)
          .where(silent)
          .executeTakeFirst();
        if (!still) return false;
        await advance(trx, workflow_id, change);
        return true;
      });
      if (taken) recovered.push(id);
    } catch (error) {
      if (!(error instanceof ClaimLost)) throw error;
    }
  }
  return recovered;
}
