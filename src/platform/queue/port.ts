import type { Queue } from 'bullmq';

/** Operations that take a processor for minutes, and those that take it for hours, wait in queues of their own. */
export const LANES = ['light', 'heavy', 'long'] as const;
export type Lane = (typeof LANES)[number];

/** What a job carries: identifiers only, never state. */
export interface JobData {
  operationId: number;
}

export interface NewJob {
  /** Unique among the jobs of its lane; a second job of the same id is ignored. Holds no colon. */
  id: string;
  /** Shown in the dashboard. */
  name: string;
  data: JobData;
}

/** What a consumer is given for each job. When it rejects, the job shows as failed and is not tried again. */
export type Processor = (data: JobData, report: (percent: number) => void) => Promise<void>;

/** A running consumer of one lane. */
export interface Consumer {
  /** How many jobs it takes at once, one at least; those under way go on. */
  setConcurrency(concurrency: number): void;
  /** Takes no further job until it is released; those under way go on. */
  hold(): void;
  release(): void;
  /** Takes no further job and resolves when those under way have ended. */
  close(): Promise<void>;
}

/** Delivers jobs to workers at least once; it is never asked what is to be done (the database is). */
export interface WorkQueue {
  readonly kind: 'redis' | 'postgres';
  /** Rejects soon, rather than waiting, while the backend does not answer. */
  deliver(lane: Lane, jobs: readonly NewJob[]): Promise<void>;
  /**
   * Which of the jobs nobody will bring forward any more: they have ended or are not there, or have been with a worker
   * for longer than it may take to begin, in milliseconds.
   */
  lost(lane: Lane, jobIds: readonly string[], beginMs: number): Promise<Set<string>>;
  /**
   * Takes back what a clock that was ahead has written: until that time came, jobs of killed workers would stay with these,
   * and all later ones as well.
   */
  forgetFuture(): Promise<void>;
  consume(lane: Lane, concurrency: number, process: Processor): Consumer;
  /** The queues as the dashboard shows them. */
  queues(): Queue[];
  /** Rejects when the backend does not answer. */
  check(): Promise<void>;
  close(): Promise<void>;
}
