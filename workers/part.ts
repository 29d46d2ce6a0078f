import type { Loop } from '#platform/process/periodically.ts';

/** A part of a worker process that lives by loops. */
export interface Part {
  readonly loops: readonly Loop[];
  close(): Promise<void>;
}
