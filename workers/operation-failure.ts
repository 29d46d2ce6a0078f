import { isDatabaseOutage, isTransient } from '#platform/database/retry.ts';
import { StagingExpired } from '#platform/storage/staging-sweep.ts';
import type { Claim } from '#processing/operation-claims.ts';
import type { Change } from '#processing/workflow-change.ts';
import { StorageFault } from './workspace.ts';

const MAX_CAUSES = 5;

const NO_ROOM = 'A disk of the service is full.';
/** Errors of the operating system that concern disks and limits of the service, never the recording. */
const SYSTEM: ReadonlyMap<unknown, string> = new Map([
  ...['ENOSPC', 'EDQUOT'].map((code) => [code, NO_ROOM] as const),
  ...['EIO', 'EROFS', 'ESTALE', 'ENXIO', 'ENODEV', 'EACCES', 'EPERM'].map(
    (code) => [code, 'A disk of the service cannot be read or written.'] as const,
  ),
  ...['EMFILE', 'ENFILE', 'ENOMEM', 'EAGAIN'].map(
    (code) => [code, 'The worker has reached a limit of its machine: open files, memory or processes.'] as const,
  ),
]);

/**
 * Returns a sentence that names the part of the service (object storage, database, disk, media tools) that caused an
 * error, or undefined if none did. Such an error says nothing about the recording.
 */
export function infrastructureError(error: unknown, depth = MAX_CAUSES): string | undefined {
  if (!(error instanceof Error) || depth === 0) return undefined;
  const system = systemFault(error);
  if (system) return system;
  if ('ours' in error && error.ours === true) return error.message;
  if (error instanceof StorageFault) return systemFault(error.cause) ?? error.message;
  if (error instanceof StagingExpired) return 'A staged object was removed before it was complete.';
  // Errors of the storage look like those of the database, but are wrapped in StorageFault here.
  if (isDatabaseOutage(error) || isTransient(error)) return 'The database does not answer.';
  return infrastructureError(error.cause, depth - 1);
}

function systemFault(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error ? SYSTEM.get(error.code) : undefined;
}

const FIRST_DELAY_MS = 2_000;
const LONGEST_DELAY_MS = 300_000;
const LONGEST_DEFERRAL_MS = 60_000;

/**
 * Decides what an error means for the operation. Permanent errors, the time limit and the last attempt fail it. Other
 * errors are retried after a pause that doubles each time. Errors of the service use up no attempt and are retried
 * without end, or until the limit of the error (`waitLimitMs`), after the pause that another server has asked for
 * (`againInMs`).
 *
 * @param error undefined when the time limit was reached
 */
export function failureChange(
  claim: Claim,
  error: unknown,
): Extract<Change, { kind: 'failed' | 'retried' | 'deferred' }> {
  const { operationId, token, attempt, maxAttempts, timeLimitMs } = claim;
  if (error === undefined) {
    const reason = `It took longer than the ${describe(timeLimitMs)} allowed.`;
    return { kind: 'failed', operationId, token, reason, log: '' };
  }
  const reason = error instanceof Error ? error.message : String(error);
  const log = error instanceof Error && 'log' in error && typeof error.log === 'string' ? error.log : '';
  const permanent = error instanceof Error && 'permanent' in error && error.permanent === true;
  if (permanent) return { kind: 'failed', operationId, token, reason, log };
  const outage = infrastructureError(error);
  const waitedMs = claim.startedAt ? Date.now() - claim.startedAt.getTime() : 0;
  if (outage !== undefined && waitedMs < (numberIn(error, 'waitLimitMs') ?? Number.POSITIVE_INFINITY)) {
    const usualMs = Math.min(FIRST_DELAY_MS * 2 ** claim.deferrals, LONGEST_DEFERRAL_MS);
    const delayMs = Math.max(usualMs, numberIn(error, 'againInMs') ?? 0);
    return { kind: 'deferred', operationId, token, reason: outage, log, delayMs };
  }
  // The recording itself counts as the cause of some errors after fewer attempts.
  if (attempt >= Math.min(maxAttempts, numberIn(error, 'attempts') ?? Number.POSITIVE_INFINITY)) {
    return { kind: 'failed', operationId, token, reason: `${reason} (given up after ${attempt} attempts)`, log };
  }
  const delayMs = Math.min(FIRST_DELAY_MS * 2 ** (attempt - 1), LONGEST_DELAY_MS);
  return { kind: 'retried', operationId, token, reason, log, delayMs };
}

function numberIn(error: unknown, property: 'againInMs' | 'attempts' | 'waitLimitMs'): number | undefined {
  const value: unknown = error instanceof Error ? Reflect.get(error, property) : undefined;
  return typeof value === 'number' ? value : undefined;
}

function describe(ms: number): string {
  const [amount, unit] =
    ms % 3_600_000 === 0
      ? [ms / 3_600_000, 'hour']
      : ms % 60_000 === 0
        ? [ms / 60_000, 'minute']
        : [ms / 1000, 'second'];
  return `${amount} ${unit}${amount === 1 ? '' : 's'}`;
}
