import { expect, test } from 'vitest';
import { MediaFailure } from '#platform/media/tools/media-failure.ts';
import { StagingExpired } from '#platform/storage/staging-sweep.ts';
import type { Claim } from '#processing/operation-claims.ts';
import { failureChange, infrastructureError } from './operation-failure.ts';
import { StorageFault } from './workspace.ts';

/** Its `attempt`th attempt. */
function claim(attempt: number, maxAttempts = 9, deferrals = 0): Claim {
  const names = { operationId: 1, workflowId: 1, eventId: 'event', token: 1, operation: 'inspect' };
  const times = { timeLimitMs: 60_000, begun: new Date(), startedAt: null };
  const trace = { requestId: 'request', traceparent: null };
  return {
    ...names,
    ...times,
    ...trace,
    configuration: {},
    workflowConfiguration: {},
    attempt,
    maxAttempts,
    deferrals,
    progress: 0,
    piece: null,
  };
}

const coded = (code: string) => Object.assign(new Error(`${code}: it failed`), { code });
const killed = new MediaFailure('It was killed (SIGKILL).', { permanent: false });

test('what a file brings about when it happens twice is given up after the second attempt', () => {
  const crash = new MediaFailure('It crashes.', { permanent: false, attempts: 2 });
  expect(failureChange(claim(1), crash)).toMatchObject({ kind: 'retried', reason: 'It crashes.' });
  const reason = 'It crashes. (given up after 2 attempts)';
  expect(failureChange(claim(2), crash)).toMatchObject({ kind: 'failed', reason });
});

test('what may pass has all its attempts', () => {
  expect(failureChange(claim(8), killed)).toMatchObject({ kind: 'retried' });
  expect(failureChange(claim(9), killed)).toMatchObject({ kind: 'failed' });
});

test('the pauses grow to a minute, and attempts do not matter', () => {
  const pauses = Array.from({ length: 7 }, (_, deferrals) => {
    const change = failureChange(claim(1, 1, deferrals), coded('ENOSPC'));
    return change.kind === 'deferred' ? change.delayMs / 1000 : change.kind;
  });
  expect(pauses).toEqual([2, 4, 8, 16, 32, 60, 60]);
});

test('a wait that has a limit ends after it', () => {
  const away = Object.assign(new Error('Away.'), { ours: true, waitLimitMs: 3_600_000 });
  const startedBefore = (minutes: number) => ({ ...claim(9), startedAt: new Date(Date.now() - minutes * 60_000) });
  for (const each of [claim(9), startedBefore(59)]) expect(failureChange(each, away).kind).toBe('deferred');
  const reason = 'Away. (given up after 9 attempts)';
  expect(failureChange(startedBefore(61), away)).toMatchObject({ kind: 'failed', reason });
});

test('a server that asks for a longer pause gets it', () => {
  const busy = Object.assign(new Error('Busy.'), { ours: true, againInMs: 120_000 });
  expect(failureChange(claim(9), busy)).toMatchObject({ kind: 'deferred', reason: 'Busy.', delayMs: 120_000 });
});

test.each([
  ['a full disk', coded('ENOSPC'), /disk of the service is full/],
  [
    'a quota that is used up, somewhere below',
    new Error('x', { cause: coded('EDQUOT') }),
    /disk of the service is full/,
  ],
  ['a disk that fails', coded('EIO'), /cannot be read or written/],
  ['a working folder that is closed', coded('EACCES'), /cannot be read or written/],
  ['too many open files', coded('EMFILE'), /open files/],
  ['object storage that cannot be reached', new StorageFault(coded('ECONNREFUSED')), /object storage/],
  ['object storage without room', new StorageFault(coded('ENOSPC')), /disk of the service is full/],
  ['a database that cannot be reached', coded('ECONNREFUSED'), /database/],
  ['a database without room', coded('53100'), /database/],
  ['a database whose statements take too long', coded('57014'), /database/],
  ['a transaction that others kept from', coded('40P01'), /database/],
  ['what was swept', new StagingExpired('x'), /removed/],
  ['a tool that cannot run', new MediaFailure('No ffmpeg.', { permanent: false, ours: true }), /No ffmpeg/],
])('%s is a fault of our own', (_name, error, sentence) => expect(infrastructureError(error)).toMatch(sentence));

test.each([
  ['an error of the code', new TypeError('x is not a function')],
  ['a statement that is wrong', coded('42P01')],
  ['a constraint', coded('23505')],
  ['a tool that was killed, perhaps for the memory that the file made it take', killed],
  ['a file that cannot be read', new MediaFailure('It is damaged.', { permanent: true })],
  ['an error of nobody', 'text'],
])('%s is none', (_name, error) => expect(infrastructureError(error)).toBeUndefined());
