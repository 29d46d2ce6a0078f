import { describe, expect, test } from 'vitest';
import { requestedRange } from './requested-range.ts';

describe('a requested range', () => {
  test.each([
    ['bytes=0-0', { start: 0, end: 0 }],
    ['bytes=90-', { start: 90, end: 99 }],
    ['bytes=90-5000', { start: 90, end: 99 }],
    ['bytes=90-99999999999999999999', { start: 90, end: 99 }],
    ['bytes=-1', { start: 99, end: 99 }],
    ['bytes=-500', { start: 0, end: 99 }],
    ['BYTES= 5-6 ', { start: 5, end: 6 }],
  ])('%s of 100 bytes is one part', (header, range) => {
    expect(requestedRange(header, 100)).toEqual(range);
  });

  test.each(['bytes=100-', 'bytes=100-200', 'bytes=99999999999999999999-', 'bytes=-0'])(
    '%s of 100 bytes cannot be satisfied',
    (header) => expect(requestedRange(header, 100)).toBe('unsatisfiable'),
  );

  test.each([
    ...[undefined, '', 'bytes', 'bytes=', 'bytes=-', 'bytes=9-5', 'bytes=a-b', 'bytes=1-2-3', 'x bytes=0-1'],
    ...['bytes=0-1,5-6', 'bytes=0-1, ', 'bytes=+1-2', 'bytes=1.5-2', 'seconds=0-1'],
  ])('%s asks for everything', (header) => expect(requestedRange(header, 100)).toBe('all'));

  test('of an empty body only the end can be asked for', () => {
    expect(requestedRange('bytes=-5', 0)).toBe('all');
    expect(requestedRange('bytes=0-', 0)).toBe('unsatisfiable');
  });
});
