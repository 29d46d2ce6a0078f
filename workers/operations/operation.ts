import type { OperationSettings } from '#platform/config/config.ts';
import type { Database, Transaction } from '#platform/database/kysely.ts';
import type { MediaTools } from '#platform/media/tools/locate-tools.ts';
import type { Inspected } from '#platform/media/workload.ts';
import type { Lane } from '#platform/queue/work-queue.ts';
import type { Logger } from '#platform/telemetry/log.ts';

/** The tools, services and settings of one run. Everything an operation starts must stop when `signal` aborts. */
export interface OperationContext {
  readonly eventId: string;
  /** The number of the operation, or of the piece. */
  readonly operationId: number;
  readonly workflowId: number;
  /** The settings from the workflow definition. */
  readonly configuration: Readonly<Record<string, string>>;
  /** The settings of the whole workflow, with those of the client. */
  readonly workflowConfiguration: Readonly<Record<string, string>>;
  readonly database: Database;
  readonly tools: MediaTools;
  /** The site's settings for operations. */
  readonly site: OperationSettings;
  /** An empty folder, always removed after the operation. */
  readonly folder: string;
  readonly signal: AbortSignal;
  readonly log: Logger;
  /** Reports the progress, from 0 to 1; cheap to call often. */
  progress(fraction: number): void;
  /** Stores a file as a new staged object, which is removed unless the operation commits. */
  store(path: string, mediatype: string): Promise<StoredFile>;
  /** Returns a path at which tools can read a stored object: in place, or downloaded into `folder`. */
  open(objectKey: string): Promise<string>;
  /**
   * Returns where tools can read parts of a stored object without a download: a path, or the address of a `RangeReader`.
   * Use `open` for objects that are read from beginning to end more than once.
   */
  locate(objectKey: string): Promise<string>;
}

export interface StoredFile {
  objectKey: string;
  size: number;
  sha256: string;
}

/**
 * Writes an operation's result, in the transaction that marks the operation as succeeded. That transaction rolls back
 * when the worker has lost its claim. The runner commits stored objects.
 */
export interface Commit {
  (trx: Transaction): Promise<void>;
  /** Pieces of the work for several workers, as JSON. The operation runs again when none is left. */
  pieces?: readonly object[];
}

/** A kind of work that a workflow can name. */
export interface Operation {
  readonly name: string;
  /** True if the recording is published once it has succeeded. */
  readonly publishes?: boolean;
  /**
   * `heavy` operations use a processor for minutes; they never delay `light` ones. A function where the lane depends on the
   * settings in the workflow definition and the inspected tracks.
   */
  readonly lane: Lane | ((configuration: OperationContext['configuration'], tracks: readonly Inspected[]) => Lane);
  /**
   * Does the work without changing a row, and returns the function that writes the result. It may divide the
   * work instead; it then runs again, and finds what the pieces have written.
   *
   * @throws an error with `permanent: true` when another attempt would fail too; other errors are retried
   */
  run(context: OperationContext): Promise<Commit>;
  /** Does the work of a piece, in the same way. */
  runPiece?(context: OperationContext, piece: unknown): Promise<Commit>;
}
