/** An operation that a worker claims to hold. */
interface HeldOperation {
  operationId: number;
  token: number;
}

/** An event in the life of a workflow. Every change of a state is made by `advance()` with one of these. */
export type Change =
  | { kind: 'started'; by: string }
  | { kind: 'claimed'; operationId: number; worker: string }
  | ({ kind: 'succeeded' } & HeldOperation)
  /** Its work is divided into pieces, which other workers may take; then it runs again. */
  | ({ kind: 'divided'; pieces: readonly object[] } & HeldOperation)
  | ({ kind: 'failed'; reason: string; log: string } & HeldOperation)
  /** The operation runs again after a pause. */
  | ({ kind: 'retried'; reason: string; log: string; delayMs: number } & HeldOperation)
  /** A part of the service does not work: the operation runs again, and no attempt is counted. */
  | ({ kind: 'deferred'; reason: string; log: string; delayMs: number } & HeldOperation)
  /** The worker shuts down and returns its operation. */
  | ({ kind: 'handed back' } & HeldOperation)
  /** The worker has been silent for too long. */
  | ({ kind: 'lost' } & HeldOperation)
  | Control;

export type Ending = Extract<Change, { token: number }>;

/** A change that a person or a client requests. */
export type Control =
  | { kind: 'resumed'; by: string }
  /** No further operation starts. The running one finishes first, and its result is kept. */
  | { kind: 'paused'; by: string }
  /** Stops the workflow immediately, with its running operation. */
  | { kind: 'stopped'; by: string }
  /** Continues a failed or stopped workflow with the operation that did not succeed. */
  | { kind: 'tried again'; by: string; configuration?: Readonly<Record<string, string>> | undefined }
  /** Changes its configuration, which decides again whether operations that have not started will run. */
  | { kind: 'configured'; by: string; configuration: Readonly<Record<string, string>> };
