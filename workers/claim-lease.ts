import type { Database, Transaction } from '#platform/database/kysely.ts';
import type { OutageWait } from '#platform/database/retry.ts';
import type { Logger } from '#platform/telemetry/log.ts';
import { type Claim, endClaim, HEARTBEAT_MS, heartbeat } from '#processing/operation-claims.ts';
import type { Ending } from '#processing/workflow-change.ts';

/** Storing and committing come last, so a running operation is never at 100 %. */
const MOST = 0.99;

/** The reason why a running operation was interrupted. */
export class Interrupted extends Error {
  override name = 'Interrupted';
  readonly why: 'lost' | 'shutdown' | 'time limit';
  constructor(why: Interrupted['why']) {
    super(why);
    this.why = why;
  }
}

interface LeaseOptions {
  claim: Claim;
  database: Database;
  /** For heartbeats. */
  vital: Database;
  /** Waits for the database when the claim ends. */
  patience: OutageWait;
  report: (percent: number) => void;
  log: Logger;
}

/** Holds a claim while its operation runs: sends heartbeats, notices when the claim is lost, and ends it. */
export class Lease {
  readonly claim: Claim;
  readonly #options: Omit<LeaseOptions, 'claim'>;
  readonly #controller = new AbortController();
  readonly #heartbeats: NodeJS.Timeout;
  #progress: number;
  #isBeating = false;
  #isBeatWanted = false;
  #isCommitting = false;

  constructor({ claim, ...options }: LeaseOptions) {
    this.claim = claim;
    this.#progress = claim.progress;
    this.#options = options;
    this.#heartbeats = setInterval(() => void this.beat(), HEARTBEAT_MS);
  }

  /** Aborts, with the reason, when the operation must stop. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Sets the progress, from 0 to 1. The next heartbeat sends it. */
  progress(fraction: number): void {
    this.#progress = Math.min(MOST, Math.max(this.#progress, fraction));
  }

  /** Stops the operation. The first reason counts. */
  interrupt(reason: Interrupted): void {
    this.#controller.abort(reason);
  }

  /** Stops the operation, unless its result is being committed: that transaction notices a lost claim itself. */
  lose(reason: Error): void {
    if (!this.#isCommitting) this.#controller.abort(reason);
  }

  /** Sends a heartbeat now, or one more after the current one. */
  async beat(): Promise<void> {
    this.#isBeatWanted = this.#isBeating;
    if (this.#isBeating) return;
    this.#isBeating = true;
    const { vital, report, log } = this.#options;
    try {
      if (!(await heartbeat(vital, this.claim, this.#progress))) this.lose(new Interrupted('lost'));
      report(Math.round(this.#progress * 100));
    } catch (error) {
      log.warn({ err: error }, 'heartbeat failed');
    } finally {
      this.#isBeating = false;
      if (this.#isBeatWanted && !this.signal.aborted) void this.beat();
    }
  }

  /**
   * Ends the claim with success and commits the result in the same transaction.
   *
   * @param pieces what is left to do, if the operation was divided
   * @throws the reason of an interruption; {ClaimLost}
   */
  async commit(commit: (trx: Transaction) => Promise<void>, pieces?: readonly object[]): Promise<void> {
    this.signal.throwIfAborted();
    this.#isCommitting = true;
    const { operationId, token } = this.claim;
    await this.end(
      pieces ? { kind: 'divided', operationId, token, pieces } : { kind: 'succeeded', operationId, token },
      commit,
    );
  }

  /** Ends the claim. @throws {ClaimLost} */
  async end(change: Ending, commit?: (trx: Transaction) => Promise<void>): Promise<void> {
    const { database, patience } = this.#options;
    await endClaim(database, this.claim, change, patience, commit);
  }

  close(): void {
    clearInterval(this.#heartbeats);
  }
}
