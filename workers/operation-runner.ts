import { setTimeout as delay } from 'node:timers/promises';
import type { OperationSettings } from '#platform/config/config.ts';
import type { Database } from '#platform/database/kysely.ts';
import type { OutageWait } from '#platform/database/retry.ts';
import type { MediaTools } from '#platform/media/tools/locate-tools.ts';
import { type Clock, startClock } from '#platform/process/timeout.ts';
import type { ObjectStorage } from '#platform/storage/object-storage.ts';
import type { StagingLedger } from '#platform/storage/staging.ts';
import type { Logger } from '#platform/telemetry/log.ts';
import {
  countFailure,
  initOperationMetrics,
  operationDeferrals,
  operationSeconds,
  publicationSeconds,
} from '#platform/telemetry/metrics.ts';
import { type Traced, traced } from '#platform/telemetry/tracing.ts';
import { ClaimLost } from '#processing/locked-workflow.ts';
import { type Claim, claimOperation } from '#processing/operation-claims.ts';
import { reasonKey } from '#processing/reason-key.ts';
import { Interrupted, Lease } from './claim-lease.ts';
import { failureChange } from './operation-failure.ts';
import type { Commit, Operation, OperationContext } from './operations/operation.ts';
import { createWorkFolder, StorageFault, Workspace } from './workspace.ts';

export interface RunnerOptions {
  /** Unique to this process. */
  worker: string;
  database: Database;
  /** For heartbeats. */
  vital: Database;
  storage: ObjectStorage;
  staging: StagingLedger;
  tools: MediaTools;
  site: OperationSettings;
  workDir: string;
  operations: ReadonlyMap<string, Operation>;
  log: Logger;
}

/** The time a job waits for the database before the relay must deliver its operation again. */
const CLAIM_PATIENCE_MS = 10_000;
/** Time in which a signal to all processes of a service must have reached this one, too. */
const SAME_SIGNAL_MS = 1_000;

/**
 * Runs operations, each under a lease, with a time limit, in a workspace. An operation may be delivered any number of
 * times; it runs only when its claim succeeds.
 */
export class Runner {
  readonly #options: RunnerOptions;
  readonly #running = new Map<number, Lease>();
  /** Also stops waiting for the database. */
  readonly #stopping = new AbortController();
  readonly #shuttingDown = new AbortController();

  constructor(options: RunnerOptions) {
    this.#options = options;
    for (const operation of options.operations.keys()) initOperationMetrics(operation);
  }

  /** Announces the shutdown: from now on, an operation whose tool was asked to stop is handed back. */
  announceShutdown(): void {
    this.#shuttingDown.abort();
  }

  /** Stops the running operations and hands them back to other workers. */
  handBack(): void {
    this.#stopping.abort();
    for (const lease of this.#running.values()) lease.interrupt(new Interrupted('shutdown'));
  }

  /**
   * Checks immediately whether this worker still holds the claim of an operation, and stops the operation if not.
   *
   * @param operationId all operations when undefined, as after a missed notification
   */
  checkLease(operationId?: number): void {
    for (const [id, lease] of this.#running) if (operationId === undefined || id === operationId) void lease.beat();
  }

  /**
   * Runs one operation to its end.
   *
   * @param report receives the progress in percent
   * @throws an error with the reason when the operation failed, after the failure has been stored
   */
  async run(operationId: number, report: (percent: number) => void): Promise<void> {
    const { database, worker, log } = this.#options;
    const claim = await claimOperation(database, operationId, worker, this.#patience(log, CLAIM_PATIENCE_MS));
    if (!claim) {
      log.debug({ operationId }, 'the operation is not ready');
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
    const bound = this.#options.log.child({ requestId, traceId, eventId, workflowId, operation, operationId, attempt });
    const started = performance.now();
    const { database, vital } = this.#options;
    const lease = new Lease({ claim, database, vital, patience: this.#patience(bound), report, log: bound });
    try {
      bound.info('operation started');
      const isDivided = await this.#perform(lease, bound);
      const ms = performance.now() - started;
      operationSeconds.observe({ operation: nameOf(claim), outcome: isDivided ? 'divided' : 'succeeded' }, ms / 1000);
      if (this.#options.operations.get(operation)?.publishes && claim.configuration.early !== 'true')
        publicationSeconds.observe((Date.now() - claim.begun.getTime()) / 1000);
      bound.info({ ms: Math.round(ms) }, isDivided ? 'operation divided' : 'operation succeeded');
    } catch (error) {
      if (error instanceof ClaimLost || (error instanceof Interrupted && error.why === 'lost')) {
        operationSeconds.observe({ operation: nameOf(claim), outcome: 'lost' }, (performance.now() - started) / 1000);
        span.fail('taken away');
        bound.warn('the claim was lost or the event deleted; the result is dropped');
        return;
      }
      span.fail(error instanceof Error ? error.message : String(error));
      await this.#fail(lease, error, bound, started);
    }
  }

  /** Runs the operation and commits its result. @returns true if it was divided. @throws the cause of a failure */
  async #perform(lease: Lease, log: Logger): Promise<boolean> {
    const { claim, signal } = lease;
    this.#running.set(claim.operationId, lease);
    if (this.#stopping.signal.aborted) lease.interrupt(new Interrupted('shutdown'));
    const clock = startClock(claim.timeLimitMs, () => lease.interrupt(new Interrupted('time limit')));
    let workspace: Workspace | undefined;
    try {
      const work = this.#workOf(claim);
      workspace = await this.#openWorkspace(lease, clock, log);
      const files = workspace;
      const context = this.#contextOf(lease, files, log);
      const commit = await work(context);
      clock.stop();
      const { pieces } = commit;
      await lease.commit(async (trx) => {
        await files.commit(trx);
        await commit(trx);
      }, pieces);
      files.keep();
      return pieces !== undefined;
    } catch (error) {
      const stopped = error instanceof Error && 'stopped' in error && error.stopped === true;
      if (stopped) await this.#awaitShutdown(signal);
      // The reason for the interruption matters more than what killed tools report.
      if (signal.aborted) throw signal.reason;
      if (stopped && this.#shuttingDown.signal.aborted) throw new Interrupted('shutdown');
      throw workspace ? await workspace.causeOf(error) : error;
    } finally {
      clock.stop();
      this.#running.delete(claim.operationId);
      await workspace?.close();
      lease.close();
    }
  }

  #workOf({ operation: name, piece }: Claim): (context: OperationContext) => Promise<Commit> {
    const operation = this.#options.operations.get(name);
    if (operation && piece === null) return (context) => operation.run(context);
    const runPiece = operation?.runPiece;
    if (runPiece) return (context) => runPiece(context, piece);
    throw Object.assign(new Error(`Unknown operation "${name}".`), { permanent: true });
  }

  async #openWorkspace(lease: Lease, clock: Clock, log: Logger): Promise<Workspace> {
    const { workDir, storage, staging } = this.#options;
    return new Workspace({
      folder: await createWorkFolder(workDir, lease.claim.operationId),
      storage,
      staging,
      signal: lease.signal,
      log,
      onLost: (reason) => lease.lose(reason),
      onOutage: (error, againInMs) => {
        // An outage of the storage must not use up the time limit.
        clock.hold();
        const away = error instanceof StorageFault ? 'object storage' : 'database';
        log.warn({ err: error, againInMs }, `the ${away} is away; the result waits for it`);
      },
      onRecovered: () => clock.resume(),
    });
  }

  #contextOf(lease: Lease, { folder, signal, store, open, locate }: Workspace, log: Logger): OperationContext {
    const { database, tools, site } = this.#options;
    const { operationId, eventId, workflowId, configuration, workflowConfiguration } = lease.claim;
    const settings = { operationId, eventId, workflowId, configuration, workflowConfiguration, site };
    const progress = (fraction: number) => lease.progress(fraction);
    return { ...settings, database, tools, folder, signal, log, progress, store, open, locate };
  }

  async #fail(lease: Lease, error: unknown, log: Logger, started: number): Promise<void> {
    const { claim } = lease;
    const shutdown = error instanceof Interrupted && error.why === 'shutdown';
    const { operationId, token } = claim;
    const change = shutdown
      ? ({ kind: 'handed back', operationId, token } as const)
      : failureChange(claim, error instanceof Interrupted ? undefined : error);
    try {
      await lease.end(change);
    } catch (lost) {
      if (lost instanceof ClaimLost) return;
      throw lost;
    }
    const seconds = (performance.now() - started) / 1000;
    operationSeconds.observe({ operation: nameOf(claim), outcome: change.kind }, seconds);
    if (change.kind === 'handed back') {
      log.info('operation handed back for another worker');
      return;
    }
    const { reason } = change;
    if (change.kind === 'deferred') {
      operationDeferrals.inc({ operation: claim.operation });
      log.warn(
        { err: error, reason, againInMs: change.delayMs, deferrals: claim.deferrals + 1 },
        'the service has failed; the operation waits without using up an attempt',
      );
      // The table schedules the next attempt; the job itself has not failed.
      return;
    }
    if (change.kind === 'retried') {
      log.warn({ err: error, reason, againInMs: change.delayMs }, 'operation will be retried');
    } else {
      // An operation whose piece has failed does its work in one go.
      if (claim.piece === null) countFailure(claim.operation, reasonKey(reason));
      log.warn({ reason, toolLog: change.log || undefined }, 'operation failed');
    }
    throw new Error(reason);
  }

  /** Waits a moment for a shutdown of this worker. */
  async #awaitShutdown(signal: AbortSignal): Promise<void> {
    const soon = AbortSignal.any([this.#shuttingDown.signal, signal]);
    await delay(SAME_SIGNAL_MS, undefined, { signal: soon }).catch(() => undefined);
  }

  /** Waits for the database until the worker stops or the limit is reached. */
  #patience(log: Logger, limitMs?: number): OutageWait {
    const stopping = this.#stopping.signal;
    return {
      signal: limitMs === undefined ? stopping : AbortSignal.any([stopping, AbortSignal.timeout(limitMs)]),
      onWait: (error, againInMs) => log.warn({ err: error, againInMs }, 'the database is away; waiting for it'),
    };
  }
}

/** Returns the name of the work in metrics. */
function nameOf({ operation, piece }: Claim): string {
  return piece === null ? operation : `${operation} piece`;
}
