import type { Queue } from 'bullmq';

/** Operations that read a whole file, or take minutes or hours of CPU time, have separate queues. */
export const LANES = ['light', 'copies', 'heavy', 'pieces', 'long'] as const;
export type Lane = (typeof LANES)[number];

/** The data of a job: identifiers only, never state. */
export interface JobData {
  operationId: number;
}

export interface NewJob {
  /** Unique in its lane; a second job with the same id is ignored. Must not hold a colon. */
  id: string;
  name: string;
  data: JobData;
}

/** Processes a job. A rejected job shows as failed and is not retried. */
export type Processor = (data: JobData, report: (percent: number) => void) => Promise<void>;

export interface Consumer {
  /** Sets the number of concurrent jobs, at least one; running jobs continue. */
  setConcurrency(concurrency: number): void;
  /** Takes no more jobs until released; running jobs continue. */
  hold(): void;
  release(): void;
  /** Takes no more jobs and resolves when running jobs have finished. */
  close(): Promise<void>;
}

/** Delivers jobs to workers at least once. The database decides what is to be done. */
export interface WorkQueue {
  readonly kind: 'redis' | 'postgres';
  /** Rejects soon, without waiting, while the backend is down. */
  deliver(lane: Lane, jobs: readonly NewJob[]): Promise<void>;
  /** Returns jobs that no worker will process: finished, missing, or taken `beginMs` ago without starting. */
  lost(lane: Lane, jobIds: readonly string[], beginMs: number): Promise<Set<string>>;
  /** Removes times in the future, written by a clock that was ahead: they would block jobs of killed workers. */
  forgetFuture(): Promise<void>;
  consume(lane: Lane, concurrency: number, process: Processor): Consumer;
  queues(): Queue[];
  check(): Promise<void>;
  close(): Promise<void>;
}
