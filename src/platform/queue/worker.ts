import { setTimeout as sleep } from 'node:timers/promises';
import { type Job, Worker } from 'bullmq';
import { withTimeout } from '../process/timeout.ts';
import type { JobData } from './port.ts';

/** BullMQ asks again at once after most faults, in a loop that lets nothing else of the process run. */
const PAUSE_MS = 1_000;
/** What `close()` waits for may never come. */
const CLOSE_MS = 5_000;

/** A BullMQ worker that shows whether its loop still gets round, and rests after a fault. */
export class WatchedWorker extends Worker<JobData, void> {
  /** When it last asked its backend for a job and was answered, on the clock of `performance.now()`. */
  roundAt = performance.now();
  /** BullMQ remembers for ever that it did not get through to its backend at first: this worker will never work. */
  broken = false;
  /** Frees what the backend keeps for this worker alone. */
  release: () => void = () => undefined;

  /** Learns of a failed start; to be called once. */
  watchStart(): this {
    this.waitUntilReady().catch(() => {
      this.broken = true;
    });
    return this;
  }

  protected override async moveToActive(token: string, name?: string): Promise<Job<JobData, void>> {
    try {
      const job = await super.moveToActive(token, name);
      this.roundAt = performance.now();
      return job;
    } catch (error) {
      await sleep(PAUSE_MS);
      throw error;
    }
  }

  /** Ends it without waiting for its jobs, nor for ever. */
  async abandon(): Promise<void> {
    try {
      await withTimeout(this.close(true), CLOSE_MS, 'The worker does not close.');
    } finally {
      this.release();
    }
  }
}
