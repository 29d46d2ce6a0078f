import { expect, test } from 'vitest';
import { CommandError, explain } from './failure.ts';

/** What is told of the causes of an error. */
const causes = (error: unknown) =>
  explain(error)
    .split('\n')
    .filter((line) => line.startsWith('Caused by'));

test('a fault is told with its stack and with what caused it', () => {
  const full = Object.assign(new Error('ENOSPC: no space left on device, write'), { secret: 's3cret' });
  const refused = new Error('The object could not be stored.', { cause: full });
  const told = explain(refused);
  expect(told).toContain(refused.stack);
  expect(causes(refused)).toEqual(['Caused by: ENOSPC: no space left on device, write']);
  expect(told).not.toContain('s3cret');
});

test('of several errors the first is told, however deep it is', () => {
  const several = new AggregateError([new Error('connect ECONNREFUSED ::1:5432'), new Error('other')]);
  expect(causes(several)).toEqual(['Caused by: connect ECONNREFUSED ::1:5432']);
  expect(causes(new TypeError('fetch failed', { cause: several }))).toEqual([
    'Caused by: connect ECONNREFUSED ::1:5432',
  ]);
});

test('causes that go round come to an end', () => {
  const error = new Error('round');
  error.cause = error;
  expect(causes(error).length).toBeLessThan(10);
});

test('a cause that is no error is told when it is a text', () => {
  expect(causes(new Error('broken', { cause: 'a text' }))).toEqual(['Caused by: a text']);
  expect(causes(new Error('broken', { cause: { password: 's3cret' } }))).toEqual([]);
});

test('what was expected is its sentence alone', () => {
  expect(explain(new CommandError('There is no file a.', { cause: new Error('ENOENT') }))).toBe(
    'There is no file a.',
  );
});
