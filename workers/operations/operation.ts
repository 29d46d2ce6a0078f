import type { OperationSettings } from '#platform/config/config.ts';
import type { Database, Transaction } from '#platform/database/kysely.ts';
import type { MediaTools } from '#platform/media/tools/tools.ts';
import type { Inspected } from '#platform/media/workload.ts';
import type { Logger } from '#platform/telemetry/log.ts';

/** What an operation works with. Everything it starts must end when `signal` aborts. */
export interface OperationContext {
  readonly eventId: string;
  /** The operation's settings from the workflow definition. */
  readonly configuration: Readonly<Record<string, string>>;
  readonly database: Database;
  readonly tools: MediaTools;
  /** What the site has set of operations. */
  readonly site: OperationSettings;
  /** An empty folder of its own, removed when the operation ends in whatever way. */
  readonly folder: string;
  readonly signal: AbortSignal;
  readonly log: Logger;
  /** How much is done, from 0 to 1; cheap to call often. */
  progress(fraction: number): void;
  /**
   * Stores a file as a new staged object, removed again unless the operation's commit takes it.
   *
   * @returns the object's key, its size in bytes and the SHA-256 of its bytes in hexadecimal
   */
  store(path: string, mediatype: string): Promise<StoredFile>;
  /** A path at which a tool can read a stored object: in place, or downloaded into `folder`. */
  open(objectKey: string): Promise<string>;
}

export interface StoredFile {
  objectKey: string;
  size: number;
  sha256: string;
}

/**
 * Writes an operation's result. Runs in the transaction that marks the operation as succeeded, which rolls back when
 * the worker has lost its claim. The objects that `store` made are committed by the runner.
 */
export type Commit = (trx: Transaction) => Promise<void>;

/** One kind of work a workflow can ask for, registered in `operations/index.ts`. */
export interface Operation {
  /** The name used in workflow definitions. */
  readonly name: string;
  /** Whether the recording can be watched when it has succeeded. */
  readonly publishes?: boolean;
  /** `heavy` operations take a processor for minutes; they never hold up `light` ones. */
  readonly lane: 'light' | 'heavy';
  /** Whether these recordings take so long that others of the lane must not wait for them. */
  isLong?(tracks: readonly Inspected[]): boolean;
  /**
   * Does the work without changing a row, and returns what to write.
   *
   * @throws an error with `permanent: true` when another attempt would fail as well; anything else is tried again
   */
  run(context: OperationContext): Promise<Commit>;
}
