import { setTimeout as delay } from 'node:timers/promises';
import type { Database } from '../src/database/kysely.ts';
import type { Patience } from '../src/database/retry.ts';
import type { MediaTools } from '../src/media/tools.ts';
import type { ObjectStorage } from '../src/storage/port.ts';
import type { StagingLedger } from '../src/storage/staging.ts';
import type { Logger } from '../src/telemetry/log.ts';
import {
  countFailure,
  expectOperation,
  operationDeferrals,
  operationSeconds,
  publicationSeconds,
} from '../src/telemetry/metrics.ts';
import { type Traced, traced } from '../src/telemetry/tracing.ts';
import { startClock } from '../src/timeout.ts';
import { type Claim, claimOperation, endClaim, HEARTBEAT_MS, heartbeat } from '../src/workflows/claims.ts';
import { ClaimLost } from '../src/workflows/locked-workflow.ts';
import { reasonKey } from '../src/workflows/reason-key.ts';
import { failureChange } from './failure.ts';
import type { Operation, OperationContext } from './operation.ts';
import { createWorkFolder, removeWorkFolder, touchWorkFolder, withoutFolder } from './work-folders.ts';
import { createWorkspace, StorageFault, type Workspace } from './workspace.ts';

export interface RunnerOptions extends Partial<Pick<OperationContext, 'commandsDir' | 'maxUploadBytes'>> {
  /** Unique to this process. */
  worker: string;
  database: Database;
  /** For heartbeats; the same as `database` unless given. */
  vital?: Database;
  storage: ObjectStorage;
  staging: StagingLedger;
  tools: MediaTools;
  publicUrl: string;
  /** Where operations get their temporary folders. */
  workDir: string;
  operations: ReadonlyMap<string, Operation>;
  log: Logger;
}

/** What is running is not done, for what comes last (storing, committing) counts as well. */
const MOST = 0.99;
/** How long a job waits for a database that is away; then the relay finds its operation untaken. */
const CLAIM_PATIENCE_MS = 10_000;
/** A signal to all processes of a service reaches them in any order, and this one may have much to do. */
const SAME_SIGNAL_MS = 1_000;

/** An operation under way. */
interface Running {
  controller: AbortController;
  /** Says that the worker lives, and finds out whether the operation is still its own. */
  beat(): Promise<void>;
}

/** Why a running operation was told to end. */
class Interrupted extends Error {
  override name = 'Interrupted';
  readonly why: 'lost' | 'shutdown' | 'time limit';
  constructor(why: Interrupted['why']) {
    super(why);
    this.why = why;
  }
}

/**
 * Runs operations: claim, working folder, heartbeat, time limit, and the final state. The same operation may be
 * asked for any number of times; it runs when the claim succeeds and not otherwise.
 */
export class Runner {
  readonly #options: RunnerOptions;
  readonly #running = new Map<number, Running>();
  /** Whoever waits for the database gives up with it. */
  readonly #stopping = new AbortController();
  readonly #closing = new AbortController();

  constructor(options: RunnerOptions) {
    this.#options = options;
    for (const operation of options.operations.keys()) expectOperation(operation);
  }

  /** From now on a tool that was asked to end was so together with this worker: its operation is handed back. */
  willEnd(): void {
    this.#closing.abort();
  }

  /** Ends what is running and hands it back to be taken by another worker. */
  handBack(): void {
    this.#stopping.abort();
    for (const { controller } of this.#running.values()) controller.abort(new Interrupted('shutdown'));
  }

  /**
   * Finds out at once whether an operation still belongs to this worker, and ends it if not.
   *
   * @param operationId any, for somebody may have missed which one it is when undefined
   */
  lookAfter(operationId?: number): void {
    for (const [id, running] of this.#running)
      if (operationId === undefined || id === operationId) void running.beat();
  }

  /**
   * Runs one operation to its end.
   *
   * @param report is told the progress in percent
   * @throws an error with the reason when the operation failed, after that has been written to the database
   */
  async run(operationId: number, report: (percent: number) => void): Promise<void> {
    const { database, worker, log } = this.#options;
    const claim = await claimOperation(database, operationId, worker, this.#patience(log, CLAIM_PATIENCE_MS));
    if (!claim) {
      log.debug({ operationId }, 'the operation is not ready; nothing to do');
      return;
    }
    const { eventId, workflowId, operation, attempt, traceparent } = claim;
    const attributes = {
      'inlet.event': eventId,
      'inlet.workflow': workflowId,
      'inlet.operation': operation,
      'inlet.attempt': attempt,
    };
    const within = { traceparent: traceparent ?? undefined };
    await traced(`operation ${operation}`, { kind: 'consumer', within, attributes }, (span) =>
      this.#runClaimed(claim, span, report),
    );
  }

  async #runClaimed(claim: Claim, span: Traced, report: (percent: number) => void): Promise<void> {
    const { requestId, eventId, workflowId, operation, operationId, attempt } = claim;
    const { traceId } = span;
    const bound = this.#options.log.child({
      requestId,
      traceId,
      eventId,
      workflowId,
      operation,
      operationId,
      attempt,
    });
    const started = performance.now();
    try {
      bound.info('operation started');
      await this.#perform(claim, bound, report);
      const ms = performance.now() - started;
      operationSeconds.observe({ operation, outcome: 'succeeded' }, ms / 1000);
      if (this.#options.operations.get(operation)?.publishes)
        publicationSeconds.observe((Date.now() - claim.begun.getTime()) / 1000);
      bound.info({ ms: Math.round(ms) }, 'operation succeeded');
    } catch (error) {
      if (error instanceof ClaimLost || (error instanceof Interrupted && error.why === 'lost')) {
        operationSeconds.observe({ operation, outcome: 'lost' }, (performance.now() - started) / 1000);
        span.fail('taken away');
        bound.warn('the operation was taken away or its event deleted; its result is dropped');
        return;
      }
      span.fail(error instanceof Error ? error.message : String(error));
      await this.#fail(claim, error, bound, started);
    }
  }

  async #perform(claim: Claim, log: Logger, report: (percent: number) => void): Promise<void> {
    const { database, vital, storage, staging, tools, publicUrl, workDir, operations } = this.#options;
    const operation = operations.get(claim.operation);
    if (!operation) {
      throw Object.assign(new Error(`No operation is called "${claim.operation}".`), { permanent: true });
    }
    const controller = new AbortController();
    const { signal } = controller;
    let folder: string | undefined;
    let progress = 0;
    let beating = false;
    let again = false;
    let ending = false;
    const beat = async () => {
      again = beating;
      if (beating) return;
      beating = true;
      try {
        if (folder !== undefined) await touchWorkFolder(folder);
        const held = await heartbeat(vital ?? database, claim, progress);
        // A claim that is being ended may have ended: who ends it finds out.
        if (!held && !ending) controller.abort(new Interrupted('lost'));
        report(Math.round(progress * 100));
      } catch (error) {
        log.warn({ err: error }, 'heartbeat failed');
      } finally {
        beating = false;
        if (again && !signal.aborted) void beat();
      }
    };
    const pulse = setInterval(beat, HEARTBEAT_MS);
    this.#running.set(claim.operationId, { controller, beat });
    if (this.#stopping.signal.aborted) controller.abort(new Interrupted('shutdown'));
    const clock = startClock(claim.timeLimitMs, () => controller.abort(new Interrupted('time limit')));
    let workspace: Workspace | undefined;
    let committed = false;
    try {
      folder = await createWorkFolder(workDir, claim.operationId);
      const files = createWorkspace({
        folder,
        storage,
        staging,
        signal,
        // Rows that are committed leave the ledger as well.
        onLost: (reason) => ending || controller.abort(reason),
        onAway: (error, againInMs) => {
          // What is done already is not to fail for the time that the storage takes.
          clock.hold();
          const away = error instanceof StorageFault ? 'object storage' : 'database';
          log.warn({ err: error, againInMs }, `the ${away} is away; the result waits for it`);
        },
        onBack: () => clock.goOn(),
      });
      workspace = files;
      const commit = await operation.run({
        eventId: claim.eventId,
        workflowId: claim.workflowId,
        configuration: claim.configuration,
        database,
        storage,
        staging,
        tools,
        publicUrl,
        commandsDir: this.#options.commandsDir,
        maxUploadBytes: this.#options.maxUploadBytes ?? Number.POSITIVE_INFINITY,
        folder,
        signal,
        log,
        progress: (fraction) => {
          progress = Math.min(MOST, Math.max(progress, fraction));
        },
        store: files.store,
        open: files.open,
      });
      signal.throwIfAborted();
      ending = true;
      clock.stop();
      const { operationId, token } = claim;
      const succeeded = { kind: 'succeeded', operationId, token } as const;
      await endClaim(database, claim, succeeded, this.#patience(log), async (trx) => {
        await staging.commit(trx, files.stagedKeys());
        await commit(trx);
      });
      committed = true;
    } catch (error) {
      const stopped = error instanceof Error && 'stopped' in error && error.stopped === true;
      if (stopped) await this.#closes(signal);
      // What the tools say about having been killed matters less than why they were.
      if (signal.aborted) throw signal.reason;
      if (stopped && this.#closing.signal.aborted) throw new Interrupted('shutdown');
      throw folder === undefined ? error : await withoutFolder(folder, error);
    } finally {
      clock.stop();
      this.#running.delete(claim.operationId);
      if (!committed && workspace) await staging.discard(workspace.stagedKeys());
      if (folder !== undefined)
        await removeWorkFolder(folder).catch((error) =>
          log.warn({ err: error }, 'could not remove the working folder'),
        );
      clearInterval(pulse);
    }
  }

  async #fail(claim: Claim, error: unknown, log: Logger, started: number): Promise<void> {
    const shutdown = error instanceof Interrupted && error.why === 'shutdown';
    const { operationId, token } = claim;
    const change = shutdown
      ? ({ kind: 'handed back', operationId, token } as const)
      : failureChange(claim, error instanceof Interrupted ? undefined : error);
    try {
      await endClaim(this.#options.database, claim, change, this.#patience(log));
    } catch (lost) {
      if (lost instanceof ClaimLost) return;
      throw lost;
    }
    const seconds = (performance.now() - started) / 1000;
    operationSeconds.observe({ operation: claim.operation, outcome: change.kind }, seconds);
    if (change.kind === 'handed back') {
      log.info('operation handed back to be taken by another worker');
      return;
    }
    const { reason } = change;
    if (change.kind === 'deferred') {
      const { deferrals } = claim;
      operationDeferrals.inc({ operation: claim.operation });
      log.warn(
        { err: error, reason, againInMs: change.delayMs, deferrals: deferrals + 1 },
        'the service does not work; the operation waits, and loses no attempt',
      );
      // In the table; the job is done, and has not failed.
      return;
    }
    if (change.kind === 'retried') {
      log.warn({ err: error, reason, againInMs: change.delayMs }, 'operation will be tried again');
    } else {
      countFailure(claim.operation, reasonKey(reason));
      log.warn({ reason, toolLog: change.log || undefined }, 'operation failed');
    }
    throw new Error(reason);
  }

  /** Waits for the worker to be told to end, if it is at all. */
  async #closes(signal: AbortSignal): Promise<void> {
    const soon = AbortSignal.any([this.#closing.signal, signal]);
    await delay(SAME_SIGNAL_MS, undefined, { signal: soon }).catch(() => undefined);
  }

  /** Waits for the database until the worker stops, or for so many milliseconds. */
  #patience(log: Logger, limitMs?: number): Patience {
    const stopping = this.#stopping.signal;
    return {
      signal: limitMs === undefined ? stopping : AbortSignal.any([stopping, AbortSignal.timeout(limitMs)]),
      onWait: (error, againInMs) =>
        log.warn({ err: error, againInMs }, 'the database is away; waiting for it'),
    };
  }
}
