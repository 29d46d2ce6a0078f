import { setTimeout as sleep } from 'node:timers/promises';
import { type Job, Worker } from 'bullmq';
import { withTimeout } from '../process/timeout.ts';
import type { JobData } from './port.ts';

/** BullMQ retries immediately after most errors, in a loop that blocks the process. */
const PAUSE_MS = 1_000;
/** `close()` may never settle. */
const CLOSE_MS = 5_000;

/** A BullMQ worker that shows whether its loop is alive, and pauses after an error. */
export class WatchedWorker extends Worker<JobData, void> {
  /** Time of the last response to a request for a job, by `performance.now()`. */
  roundAt = performance.now();
  /** True after a failed first connection, from which BullMQ never recovers. */
  broken = false;
  /** Frees the worker's connection. */
  release: () => void = () => undefined;

  /** Detects a failed start. Call it once. */
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

  /** Closes without waiting for its jobs. */
  async abandon(): Promise<void> {
    try {
      await withTimeout(this.close(true), CLOSE_MS, 'The worker does not close.');
    } finally {
      this.release();
    }
  }
}
