import type { Database, Transaction } from '#platform/database/kysely.ts';
import type { Patience } from '#platform/database/retry.ts';
import type { Logger } from '#platform/telemetry/log.ts';
import type { Ending } from '#processing/advance.ts';
import { type Claim, endClaim, HEARTBEAT_MS, heartbeat } from '#processing/claims.ts';

/** What is running is not done, for what comes last (storing, committing) counts as well. */
const MOST = 0.99;

/** Why a running operation was interrupted. */
export class Interrupted extends Error {
  override name = 'Interrupted';
  readonly why: 'lost' | 'shutdown' | 'time limit';
  constructor(why: Interrupted['why']) {
    super(why);
    this.why = why;
  }
}

export interface LeaseOptions {
  claim: Claim;
  database: Database;
  /** For heartbeats. */
  vital: Database;
  /** How an end waits for the database. */
  patience: Patience;
  /** Receives the progress in percent with each heartbeat. */
  report: (percent: number) => void;
  log: Logger;
}

/** Holds a claim while its operation runs: sends heartbeats, finds out when the claim is lost, and ends it. */
export class Lease {
  readonly claim: Claim;
  readonly #options: Omit<LeaseOptions, 'claim'>;
  readonly #controller = new AbortController();
  readonly #heartbeats: NodeJS.Timeout;
  #progress = 0;
  #isBeating = false;
  #isBeatWanted = false;
  #isCommitting = false;

  constructor({ claim, ...options }: LeaseOptions) {
    this.claim = claim;
    this.#options = options;
    this.#heartbeats = setInterval(() => void this.beat(), HEARTBEAT_MS);
  }

  /** Aborts when the operation must end, with the reason. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Takes the progress from 0 to 1; the next heartbeat carries it. */
  progress(fraction: number): void {
    this.#progress = Math.min(MOST, Math.max(this.#progress, fraction));
  }

  /** Ends the operation; the first reason counts. */
  interrupt(reason: Interrupted): void {
    this.#controller.abort(reason);
  }

  /** Ends the operation unless its result is being committed: then the transaction finds out what is lost. */
  lose(reason: Error): void {
    if (!this.#isCommitting) this.#controller.abort(reason);
  }

  /** Sends a heartbeat now, or once more after the one under way. */
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
   * Ends the claim with success and commits the result.
   *
   * @param commit see `endClaim`
   * @throws the reason of an interruption; {ClaimLost}
   */
  async commit(commit: (trx: Transaction) => Promise<void>): Promise<void> {
    this.signal.throwIfAborted();
    this.#isCommitting = true;
    const { operationId, token } = this.claim;
    await this.end({ kind: 'succeeded', operationId, token }, commit);
  }

  /** Ends the claim. @throws {ClaimLost} */
  async end(change: Ending, commit?: (trx: Transaction) => Promise<void>): Promise<void> {
    const { database, patience } = this.#options;
    await endClaim(database, this.claim, change, patience, commit);
  }

  /** Stops the heartbeats. */
  close(): void {
    clearInterval(this.#heartbeats);
  }
}
