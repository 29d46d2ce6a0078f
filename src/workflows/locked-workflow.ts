import { sql } from 'kysely';
import type { NewChange } from '../changes/change.ts';
import type { Transaction } from '../database/kysely.ts';
import { isPaused } from './lane-settings.ts';
import {
  assertMove,
  isActive,
  OPERATION_MOVES,
  type OperationState,
  WORKFLOW_MOVES,
  type WorkflowState,
} from './states.ts';
import { hasAnotherSuspect, isSuspect } from './suspects.ts';

/** The channel on which the relay hears that an operation became ready. */
export const READY_CHANNEL = 'inlet_operation_ready';
/** The channel on which workers hear that operations were taken from them; its payload is the operation's number. */
export const TAKEN_CHANNEL = 'inlet_operation_taken';

/** How long it could have been taken already, if that is known; it may have become ready after the transaction began. */
const WAITED_MS = sql<number | null>`CASE WHEN ready_at IS NOT NULL THEN
  greatest(0, round(1000 * extract(epoch FROM now() - greatest(ready_at, not_before))))::bigint END`;

/** The change comes from a worker that no longer holds the operation; the transaction must roll back. */
export class ClaimLost extends Error {
  override name = 'ClaimLost';
}

/** An operation as far as its workflow is concerned. */
export interface Step {
  id: number;
  operation: string;
}

/**
 * A workflow that is locked until the transaction ends, and the only writer of its state, of those of its operations, and
 * of the `processing_state` of its event. Keeps what has changed, in order, for the log.
 */
export class LockedWorkflow {
  readonly trx: Transaction;
  readonly id: number;
  readonly eventId: string;
  readonly #definition: string;
  readonly #actor: string | undefined;
  readonly #changes: NewChange[] = [];
  #state: WorkflowState;

  private constructor(
    trx: Transaction,
    row: { id: number; event_id: string; definition: string; state: string },
    actor: string | undefined,
  ) {
    this.trx = trx;
    this.id = row.id;
    this.eventId = row.event_id;
    this.#definition = row.definition;
    this.#state = row.state as WorkflowState;
    this.#actor = actor;
  }

  /** @param actor the account that asks for the change @throws {ClaimLost} when it is gone */
  static async lock(trx: Transaction, id: number, actor: string | undefined): Promise<LockedWorkflow> {
    const row = await trx
      .selectFrom('workflows')
      .select(['id', 'event_id', 'definition', 'state'])
      .where('id', '=', id)
      .forUpdate()
      .executeTakeFirst();
    if (!row) throw new ClaimLost(`Workflow ${id} is gone.`);
    return new LockedWorkflow(trx, row, actor);
  }

  get state(): WorkflowState {
    return this.#state;
  }

  /** What has changed so far, in order. */
  get changes(): readonly NewChange[] {
    return this.#changes;
  }

  /** @throws {IllegalMove} */
  async move(to: WorkflowState, reason: string | null = null): Promise<void> {
    assertMove(WORKFLOW_MOVES, this.#state, to);
    const row = await this.trx
      .updateTable('workflows')
      .set({
        state: to,
        finished_at: isActive(to) ? null : sql<Date>`now()`,
        ...((reason !== null || to === 'RUNNING') && { reason }),
      })
      .where('id', '=', this.id)
      .returning('reason')
      .executeTakeFirstOrThrow();
    await this.trx
      .updateTable('events')
      .set({ processing_state: to })
      .where('id', '=', this.eventId)
      .execute();
    this.#state = to;
    // Nobody sees it fail that has nothing to do then.
    if (to === 'FAILED' && this.#changes.at(-1)?.data?.state === 'FAILING') this.#changes.pop();
    const why = (to === 'FAILING' || to === 'FAILED') && row.reason !== null && { reason: row.reason };
    this.#tell('workflow.state', { definition: this.#definition, ...why });
  }

  /** Moves it to a state unless it is in it. @throws {IllegalMove} */
  async become(to: WorkflowState): Promise<void> {
    if (this.#state !== to) await this.move(to);
  }

  /** The first operation that waits for its turn. */
  nextStep({ onFailure }: { onFailure: boolean }): Promise<Step | undefined> {
    return this.trx
      .selectFrom('workflow_operations')
      .select(['id', 'operation'])
      .where('workflow_id', '=', this.id)
      .where('state', '=', 'waiting')
      .where('on_failure', '=', onFailure)
      .orderBy('position')
      .limit(1)
      .executeTakeFirst();
  }

  /** Gives an operation to whichever worker comes first. @param from the state it is in */
  async makeReady({ id }: Step, from: OperationState): Promise<void> {
    assertMove(OPERATION_MOVES, from, 'ready');
    await this.trx
      .updateTable('workflow_operations')
      .set({ state: 'ready', ready_at: sql`now()` })
      .where('id', '=', id)
      .execute();
    await this.#announce();
  }

  /** Holds an operation that waits for its turn until somebody lets the workflow go on. */
  async hold({ id, operation }: Step): Promise<void> {
    assertMove(OPERATION_MOVES, 'waiting', 'paused');
    await this.trx.updateTable('workflow_operations').set({ state: 'paused' }).where('id', '=', id).execute();
    this.tellOfStep(operation, 'paused');
  }

  /** @throws {ClaimLost} when the operation is not ready, or is to be worked on apart from what the worker does already */
  async claim(operationId: number, worker: string): Promise<Step & { waitedMs: number | null }> {
    assertMove(OPERATION_MOVES, 'ready', 'running');
    const taken = await this.trx
      .updateTable('workflow_operations')
      .set({
        state: 'running',
        worker,
        fencing_token: sql`fencing_token + 1`,
        heartbeat_at: sql`now()`,
        started_at: sql`coalesce(started_at, now())`,
        claimed_at: sql`now()`,
        progress: 0,
      })
      .where('id', '=', operationId)
      .where('state', '=', 'ready')
      .where('not_before', '<=', sql<Date>`now()`)
      .where((is) => is.not(isPaused(sql.ref('workflow_operations.lane'))))
      .returning(['id', 'operation', 'losses', WAITED_MS.as('waitedMs')])
      .executeTakeFirst();
    if (!taken) throw new ClaimLost('The operation is not ready.');
    if (isSuspect(taken) && (await hasAnotherSuspect(this.trx, operationId, worker)))
      throw new ClaimLost('The worker has another operation that may kill it.');
    return taken;
  }

  /** Ends a claim. @throws {ClaimLost} when the fencing token is not that of whoever holds it */
  async leave(
    held: { operationId: number; token: number },
    to: OperationState,
    set: Record<string, unknown>,
  ): Promise<Step> {
    assertMove(OPERATION_MOVES, 'running', to);
    const left = await this.trx
      .updateTable('workflow_operations')
      .set({
        ...set,
        state: to,
        heartbeat_at: null,
        delivered_at: null,
        ...(to === 'ready' && { ready_at: sql`now()` }),
      })
      .where('id', '=', held.operationId)
      .where('state', '=', 'running')
      .where('fencing_token', '=', held.token)
      .returning(['id', 'operation'])
      .executeTakeFirst();
    if (!left) throw new ClaimLost('The operation is held by another worker.');
    if (to === 'ready') await this.#announce();
    return left;
  }

  /** Moves all operations that are in one of some states. @returns them */
  async settle(
    from: readonly OperationState[],
    to: OperationState,
    { onFailure, set = {} }: { onFailure?: boolean; set?: Record<string, unknown> } = {},
  ): Promise<Step[]> {
    for (const state of from) assertMove(OPERATION_MOVES, state, to);
    let query = this.trx
      .updateTable('workflow_operations')
      .set({
        state: to,
        heartbeat_at: null,
        delivered_at: null,
        finished_at: to === 'waiting' ? null : sql`now()`,
        ...set,
      })
      .where('workflow_id', '=', this.id)
      .where('state', 'in', from);
    if (onFailure !== undefined) query = query.where('on_failure', '=', onFailure);
    return query.returning(['id', 'operation']).execute();
  }

  /** The operations in one of some states, in order. */
  stepsIn(states: readonly OperationState[]): Promise<(Step & { state: OperationState })[]> {
    return this.trx
      .selectFrom('workflow_operations')
      .select(['id', 'operation', 'state'])
      .where('workflow_id', '=', this.id)
      .where('state', 'in', states)
      .orderBy('position')
      .execute() as Promise<(Step & { state: OperationState })[]>;
  }

  tellOfStart(): void {
    this.#tell('workflow.state', { definition: this.#definition });
  }

  tellOfStep(operation: string, state: OperationState, more: Readonly<Record<string, unknown>> = {}): void {
    this.#tell('operation.state', { operation, operation_state: state, ...more });
  }

  #tell(kind: NewChange['kind'], facts: Readonly<Record<string, unknown>>): void {
    const data = { workflow: this.id, state: this.#state, ...facts };
    this.#changes.push({ kind, eventId: this.eventId, actor: this.#actor, data });
  }

  async #announce(): Promise<void> {
    await sql`SELECT pg_notify(${READY_CHANNEL}, '')`.execute(this.trx);
  }
}

/** Tells the workers of these operations that they are theirs no more, so that they end at once what they do. */
export async function tellTaken(trx: Transaction, operationIds: readonly number[]): Promise<void> {
  if (operationIds.length === 0) return;
  await sql`SELECT pg_notify(${TAKEN_CHANNEL}, id::text) FROM unnest(${operationIds}::bigint[]) AS id`.execute(
    trx,
  );
}
