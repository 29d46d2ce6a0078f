import type { Loop } from '../src/periodically.ts';

/** A part of a worker process that lives by loops. */
export interface Part {
  readonly loops: readonly Loop[];
  close(): Promise<void>;
}
