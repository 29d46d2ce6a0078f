import { expect, test } from 'vitest';
import { MediaFailure } from '../src/media/failure.ts';
import type { Claim } from '../src/workflows/claims.ts';
import { failureChange } from './failure.ts';

/** Its `attempt`th attempt of nine. */
function claim(attempt: number): Claim {
  const operation = { operationId: 1, workflowId: 1, eventId: 'event', token: 1, operation: 'inspect' };
  return {
    ...operation,
    configuration: {},
    attempt,
    maxAttempts: 9,
    timeLimitMs: 60_000,
    begun: new Date(),
    requestId: 'request',
    traceparent: null,
    ...{ deferrals: 0 },
  };
}

test('what a file brings about when it happens twice is given up after the second attempt', () => {
  const crash = new MediaFailure('It crashes.', { permanent: false, attempts: 2 });
  expect(failureChange(claim(1), crash)).toMatchObject({ kind: 'retried', reason: 'It crashes.' });
  expect(failureChange(claim(2), crash)).toMatchObject({
    kind: 'failed',
    reason: 'It crashes. (given up after 2 attempts)',
  });
});

test('what may pass has all its attempts', () => {
  const ended = new MediaFailure('It was ended.', { permanent: false });
  expect(failureChange(claim(8), ended)).toMatchObject({ kind: 'retried' });
  expect(failureChange(claim(9), ended)).toMatchObject({ kind: 'failed' });
});
