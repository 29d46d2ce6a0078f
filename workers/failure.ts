import type { Change } from '#processing/advance.ts';
import type { Claim } from '#processing/claims.ts';
import { ownFault } from './own-fault.ts';

const FIRST_DELAY_MS = 2_000;
const LONGEST_DELAY_MS = 300_000;
const LONGEST_DEFERRAL_MS = 60_000;

/**
 * What a fault means for the operation: permanent ones (an error with `permanent: true`, a time limit, the last
 * attempt) fail it, others have it tried again after a pause that doubles each time. What a part of our own is to blame
 * for uses up no attempt: it is tried again as long as it takes.
 *
 * @param error undefined when the time limit ended the operation
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
  const ours = ownFault(error);
  if (ours !== undefined) {
    const delayMs = Math.min(FIRST_DELAY_MS * 2 ** claim.deferrals, LONGEST_DEFERRAL_MS);
    return { kind: 'deferred', operationId, token, reason: ours, log, delayMs };
  }
  if (attempt >= Math.min(maxAttempts, attemptsWorth(error))) {
    return {
      kind: 'failed',
      operationId,
      token,
      reason: `${reason} (given up after ${attempt} attempts)`,
      log,
    };
  }
  const delayMs = Math.min(FIRST_DELAY_MS * 2 ** (attempt - 1), LONGEST_DELAY_MS);
  return { kind: 'retried', operationId, token, reason, log, delayMs };
}

/** How many attempts there are before the recording itself is taken to be the reason. */
function attemptsWorth(error: unknown): number {
  const worth = error instanceof Error && 'attempts' in error;
  return worth && typeof error.attempts === 'number' ? error.attempts : Number.POSITIVE_INFINITY;
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
