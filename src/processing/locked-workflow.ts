import { type RawBuilder, sql } from 'kysely';
import type { NewChange } from '#changes/change.ts';
import { CHANGES_CHANNEL, insertChanges } from '#changes/record-changes.ts';
import type { Transaction } from '#platform/database/kysely.ts';
import { PREPARED } from '#platform/database/prepared.ts';
import {
  attemptWrites,
  type EndedAttempts,
  endingValues,
  lockSteps,
  type Outcome,
  type Step,
  type WorkflowRef,
} from './operation-queries.ts';
import type { Ending } from './workflow-change.ts';
import {
  assertMove,
  isActive,
  OPERATION_MOVES,
  type OperationState,
  WORKFLOW_MOVES,
  type WorkflowState,
} from './workflow-states.ts';

/** The channel that notifies the relay of ready operations. */
export const READY_CHANNEL = 'inlet_operation_ready';
/** The channel that notifies workers of operations taken from them; the payload is the operation's number. */
export const TAKEN_CHANNEL = 'inlet_operation_taken';

/** The current operation of a workflow is in one of these states; the database allows only one. */
const CURRENT: readonly OperationState[] = ['ready', 'running', 'divided', 'paused'];

/** The change comes from a worker that no longer holds the operation; the transaction must roll back. */
export class ClaimLost extends Error {
  override name = 'ClaimLost';
}

type Values = Readonly<Record<string, unknown>>;

/**
 * A workflow that is locked with its operations until the transaction ends. One statement loads it, it is changed in
 * memory, and `save` writes the changes and their log in another statement.
 */
export class LockedWorkflow {
  readonly trx: Transaction;
  readonly steps: readonly Step[];
  /** The piece that the change is about, if it is about one. */
  readonly piece: Step | undefined;
  readonly id: number;
  readonly eventId: string;
  readonly #definition: string;
  readonly #changes: Pick<NewChange, 'kind' | 'data'>[] = [];
  /** New values of operations apart from their states. Operations that share them are written together. */
  readonly #stepValues = new Map<Step, Values>();
  #attempts: EndedAttempts | undefined;
  #values: Values = {};
  #state: WorkflowState;
  #configuration: Readonly<Record<string, string>>;
  #reason: string | null;
  #isStateNew = false;
  #isStepReady = false;

  /** @throws {ClaimLost} when the workflow is gone, or its operation is not ready */
  static async lock(trx: Transaction, ref: WorkflowRef, pieceId?: number): Promise<LockedWorkflow> {
    const steps = await lockSteps(trx, ref, pieceId);
    const [first] = steps;
    if (!first) throw new ClaimLost('The workflow is gone, or its operation is not ready.');
    return new LockedWorkflow(trx, first, steps);
  }

  private constructor(trx: Transaction, first: Step, steps: readonly Step[]) {
    this.trx = trx;
    this.steps = steps.filter(({ parentId }) => parentId === null);
    this.piece = steps.find(({ parentId }) => parentId !== null);
    this.id = first.workflowId;
    this.eventId = first.eventId;
    this.#definition = first.definition;
    this.#state = first.workflowState;
    this.#configuration = first.workflowConfiguration;
    this.#reason = first.workflowReason;
  }

  get state(): WorkflowState {
    return this.#state;
  }

  get configuration(): Readonly<Record<string, string>> {
    return this.#configuration;
  }

  get channels(): string[] {
    return [...(this.#changes.length > 0 ? [CHANGES_CHANNEL] : []), ...(this.#isStepReady ? [READY_CHANNEL] : [])];
  }

  /** Changes values of its configuration; other keys stay as they are. */
  configure(values: Readonly<Record<string, string>>): void {
    this.#configuration = { ...this.#configuration, ...values };
    this.#values = { ...this.#values, configuration: JSON.stringify(this.#configuration) };
  }

  /** Records the start of the workflow in its first state. */
  start(): void {
    this.#isStateNew = true;
    this.#record('workflow.state', { definition: this.#definition });
  }

  /** @throws {IllegalMove} */
  move(to: WorkflowState, reason: string | null = null): void {
    assertMove(WORKFLOW_MOVES, this.#state, to);
    if (reason !== null || to === 'RUNNING') this.#reason = reason;
    const finished_at = isActive(to) ? null : sql`now()`;
    this.#values = { ...this.#values, state: to, finished_at, reason: this.#reason };
    this.#state = to;
    this.#isStateNew = true;
    // Without operations for a failure, nothing sees the state FAILING.
    if (to === 'FAILED' && this.#changes.at(-1)?.data?.state === 'FAILING') this.#changes.pop();
    const why = (to === 'FAILING' || to === 'FAILED') && this.#reason !== null && { reason: this.#reason };
    this.#record('workflow.state', { definition: this.#definition, ...why });
  }

  /** Moves it to a state unless it is in it. @throws {IllegalMove} */
  ensureState(to: WorkflowState): void {
    if (this.#state !== to) this.move(to);
  }

  nextStep({ onFailure }: { onFailure: boolean }): Step | undefined {
    return this.steps.find((step) => step.state === 'waiting' && step.onFailure === onFailure);
  }

  /** Returns the operations in any of these states, in order. */
  stepsIn(states: readonly OperationState[]): Step[] {
    return this.steps.filter(({ state }) => states.includes(state));
  }

  /** Makes an operation available to all workers. */
  makeReady(step: Step): void {
    this.moveStep(step, 'ready', { ready_at: sql`now()` });
  }

  /** Holds a waiting operation until the workflow is resumed. */
  hold(step: Step): void {
    this.moveStep(step, 'paused');
    this.recordStep(step);
  }

  /** Returns the operation if it may be claimed now. @throws {ClaimLost} */
  claimableStep(operationId: number): Step {
    const step = this.#stepOf(operationId);
    if (step?.state === 'ready' && step.isDue && !step.isLanePaused) return step;
    throw new ClaimLost('The operation is not ready.');
  }

  /** Gives an operation to a worker, under the next fencing token. */
  claim(step: Step, worker: string): void {
    const token = step.token + 1;
    this.moveStep(step, 'running', {
      worker,
      fencing_token: token,
      heartbeat_at: sql`now()`,
      started_at: sql`coalesce(started_at, now())`,
      claimed_at: sql`now()`,
      // A divided operation continues from its pieces.
      ...(!step.hasPieces && { progress: 0 }),
    });
    Object.assign(step, { token });
  }

  /** Returns the operation that a worker holds. @throws {ClaimLost} when the fencing token is not that of the claim */
  heldStep({ operationId, token }: { operationId: number; token: number }): Step {
    const step = this.#stepOf(operationId);
    if (step?.state === 'running' && step.token === token) return step;
    throw new ClaimLost('The operation is held by another worker.');
  }

  #stepOf(operationId: number): Step | undefined {
    return this.piece?.id === operationId ? this.piece : this.steps.find(({ id }) => id === operationId);
  }

  /** Records that attempts at running operations did not succeed. */
  recordAttempts(steps: readonly Step[], outcome: Outcome, reason: string | null): void {
    if (steps.length > 0) this.#attempts = { operationIds: steps.map(({ id }) => id), outcome, reason };
  }

  /** Takes an operation from the worker that holds it, and records the attempt if it did not succeed. */
  releaseClaim(step: Step, change: Ending): void {
    const { kind } = change;
    const isResult = kind === 'succeeded' || kind === 'divided';
    if (!isResult) this.recordAttempts([step], kind, 'reason' in change ? change.reason : null);
    const again = this.#state === 'PAUSED' ? 'paused' : 'ready';
    const to = isResult || kind === 'failed' ? kind : again;
    const ready = to === 'ready' && { ready_at: sql`now()` };
    this.moveStep(step, to, { ...endingValues(change), ...ready, heartbeat_at: null, delivered_at: null });
  }

  /** Moves all operations in any of these states. @returns them */
  moveAll(
    from: readonly OperationState[],
    to: OperationState,
    { onFailure, values = {} }: { onFailure?: boolean; values?: Values } = {},
  ): Step[] {
    const finished_at = to === 'waiting' ? null : sql`now()`;
    const settled = this.stepsIn(from).filter((step) => onFailure === undefined || step.onFailure === onFailure);
    const written = { heartbeat_at: null, delivered_at: null, finished_at, ...values };
    for (const step of settled) this.moveStep(step, to, written);
    return settled;
  }

  /** Sets the progress of an operation whose pieces are being worked on. */
  progress(step: Step, progress: number): void {
    this.#setValues(step, { progress });
    this.#record('operation.progress', { operation: step.operation, progress });
  }

  /** Notifies the relay of operations that became ready. */
  announceReady(): void {
    this.#isStepReady = true;
  }

  #setValues(step: Step, values: Values): void {
    this.#stepValues.set(step, { ...this.#stepValues.get(step), ...values });
  }

  /** @throws {IllegalMove} */
  moveStep(step: Step, to: OperationState, values: Values = {}): void {
    assertMove(OPERATION_MOVES, step.state, to);
    // Operations that share an object are written together.
    if (this.#stepValues.has(step)) this.#setValues(step, values);
    else this.#stepValues.set(step, values);
    Object.assign(step, { state: to });
    if (to === 'ready') this.#isStepReady = true;
  }

  recordStep(step: Step, more: Values = {}): void {
    this.#record('operation.state', { operation: step.operation, operation_state: step.state, ...more });
  }

  #record(kind: NewChange['kind'], facts: Values): void {
    const data = { workflow: this.id, state: this.#state, ...facts };
    this.#changes.push({ kind, data });
  }

  /** Writes all changes in one statement, which also notifies the channels with the commit. */
  async save({ actor, channels }: { actor: string | undefined; channels: readonly string[] }): Promise<void> {
    const writes = this.#writes(actor);
    if (writes.length === 0) return;
    const named = writes.map((write, i) => sql`${writeName(i)} AS (${write})`);
    await sql`${PREPARED} WITH ${sql.join(named)}
      SELECT pg_notify(channel, '') FROM unnest(${channels}::text[]) AS channel`.execute(this.trx);
  }

  #writes(actor: string | undefined): RawBuilder<unknown>[] {
    const changed = [...this.#stepValues.keys()];
    const isCurrent = ({ state }: Step) => CURRENT.includes(state);
    const writes = this.#stepWrites(changed.filter((step) => !isCurrent(step)));
    // The new current operation is written last: only one may be current at any time.
    writes.push(...this.#stepWrites(changed.filter(isCurrent), writes.length));
    const { trx, id, eventId } = this;
    if (Object.keys(this.#values).length > 0)
      writes.push(sql`${trx.updateTable('workflows').set(this.#values).where('id', '=', id)}`);
    const processing_state = this.#state;
    if (this.#isStateNew)
      writes.push(sql`${trx.updateTable('events').set({ processing_state }).where('id', '=', eventId)}`);
    if (this.#attempts) writes.push(...attemptWrites(this.#attempts, writeName(writes.length)));
    const changes = this.#changes.map((change) => ({ ...change, eventId, actor }));
    if (changes.length > 0) writes.push(insertChanges(changes));
    return writes;
  }

  /** @param after the number of writes that must run first */
  #stepWrites(steps: readonly Step[], after = 0): RawBuilder<unknown>[] {
    const together = Map.groupBy(steps, (step) => this.#stepValues.get(step));
    const done = Array.from({ length: after }, (_, i) => sql<boolean>`(SELECT count(*) FROM ${writeName(i)}) >= 0`);
    return [...together].map(([values, group]) => {
      const state = group[0]?.state;
      const ids = group.map(({ id }) => id);
      const update = this.trx.updateTable('workflow_operations').set({ ...values, state });
      return sql`${update
        .where('id', 'in', ids)
        .where((is) => is.and(done))
        .returning('id')}`;
    });
  }
}

function writeName(write: number): RawBuilder<unknown> {
  return sql.raw(`write_${write}`);
}

/** Notifies the workers of these operations that they lost them, so that they stop immediately. */
export async function notifyTaken(trx: Transaction, operationIds: readonly number[]): Promise<void> {
  if (operationIds.length === 0) return;
  await sql`SELECT pg_notify(${TAKEN_CHANNEL}, id::text) FROM unnest(${operationIds}::bigint[]) AS id`.execute(trx);
}
