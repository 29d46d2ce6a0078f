import type { Database } from '../src/database/kysely.ts';
import type { Patience } from '../src/database/retry.ts';
import type { MediaTools } from '../src/media/tools.ts';
import type { ObjectStorage } from '../src/storage/port.ts';
import type { StagingLedger } from '../src/storage/staging.ts';
import type { Logger } from '../src/telemetry.ts';
import { runAfter } from '../src/timeout.ts';
import { ClaimLost } from '../src/workflows/advance.ts';
import { type Claim, claimOperation, endClaim, HEARTBEAT_MS, heartbeat } from '../src/workflows/claims.ts';
import { failureChange } from './failure.ts';
import type { Operation } from './operation.ts';
import { createWorkFolder, removeWorkFolder, touchWorkFolder } from './work-folders.ts';
import { createWorkspace } from './workspace.ts';

export interface RunnerOptions {
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
  readonly #running = new Set<AbortController>();
  /** Whoever waits for the database gives up with it. */
  readonly #stopping = new AbortController();

  constructor(options: RunnerOptions) {
    this.#options = options;
  }

  /** Ends what is running and hands it back to be taken by another worker. */
  handBack(): void {
    this.#stopping.abort();
    for (const controller of this.#running) controller.abort(new Interrupted('shutdown'));
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
    const { requestId, eventId, workflowId, operation, attempt } = claim;
    const bound = log.child({ requestId, eventId, workflowId, operation, operationId, attempt });
    const started = performance.now();
    try {
      bound.info('operation started');
      await this.#perform(claim, bound, report);
      bound.info({ ms: Math.round(performance.now() - started) }, 'operation succeeded');
    } catch (error) {
      if (error instanceof ClaimLost || (error instanceof Interrupted && error.why === 'lost')) {
        bound.warn('the operation was taken away or its event deleted; its result is dropped');
        return;
      }
      await this.#fail(claim, error, bound);
    }
  }

  async #perform(claim: Claim, log: Logger, report: (percent: number) => void): Promise<void> {
    const { database, vital, storage, staging, tools, publicUrl, workDir, operations } = this.#options;
    const operation = operations.get(claim.operation);
    if (!operation) {
      throw Object.assign(new Error(`No operation is called "${claim.operation}".`), { permanent: true });
    }
    const folder = await createWorkFolder(workDir, claim.operationId);
    const controller = new AbortController();
    const { signal } = controller;
    this.#running.add(controller);
    if (this.#stopping.signal.aborted) controller.abort(new Interrupted('shutdown'));
    const workspace = createWorkspace({
      folder,
      storage,
      staging,
      signal,
      // Rows that are committed leave the ledger as well.
      onLost: (reason) => ending || controller.abort(reason),
      onAway: (error, againInMs) => {
        // What is done already is not to fail for the time that the storage takes.
        stopClock();
        log.warn({ err: error, againInMs }, 'the object storage is away; the result waits for it');
      },
    });
    let progress = 0;
    let beating = false;
    let ending = false;
    const beat = setInterval(async () => {
      if (beating) return;
      beating = true;
      try {
        await touchWorkFolder(folder);
        const held = await heartbeat(vital ?? database, claim, progress);
        // A claim that is being ended may have ended: who ends it finds out.
        if (!held && !ending) controller.abort(new Interrupted('lost'));
        report(Math.round(progress * 100));
      } catch (error) {
        log.warn({ err: error }, 'heartbeat failed');
      } finally {
        beating = false;
      }
    }, HEARTBEAT_MS);
    const stopClock = runAfter(claim.timeLimitMs, () => controller.abort(new Interrupted('time limit')));
    let committed = false;
    try {
      const commit = await operation.run({
        eventId: claim.eventId,
        workflowId: claim.workflowId,
        configuration: claim.configuration,
        database,
        storage,
        staging,
        tools,
        publicUrl,
        folder,
        signal,
        log,
        progress: (fraction) => {
          progress = Math.min(MOST, Math.max(progress, fraction));
        },
        store: workspace.store,
        open: workspace.open,
      });
      signal.throwIfAborted();
      ending = true;
      stopClock();
      const { operationId, token } = claim;
      const succeeded = { kind: 'succeeded', operationId, token } as const;
      await endClaim(database, claim, succeeded, this.#patience(log), async (trx) => {
        await staging.commit(trx, workspace.stagedKeys());
        await commit(trx);
      });
      committed = true;
    } catch (error) {
      // What the tools say about having been killed matters less than why they were.
      throw signal.aborted ? signal.reason : error;
    } finally {
      stopClock();
      this.#running.delete(controller);
      if (!committed) await staging.discard(workspace.stagedKeys());
      await removeWorkFolder(folder).catch((error) =>
        log.warn({ err: error }, 'could not remove the working folder'),
      );
      clearInterval(beat);
    }
  }

  async #fail(claim: Claim, error: unknown, log: Logger): Promise<void> {
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
    if (change.kind === 'handed back') {
      log.info('operation handed back to be taken by another worker');
      return;
    }
    const { reason } = change;
    if (change.kind === 'deferred') {
      const { deferrals } = claim;
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
      log.warn({ reason, toolLog: change.log || undefined }, 'operation failed');
    }
    throw new Error(reason);
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
