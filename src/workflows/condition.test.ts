import { expect, test } from 'vitest';
import { compileCondition } from './condition.ts';

const holds = (source: string, configuration: Record<string, string> = {}) =>
  compileCondition(source).test(configuration);

test('a key is true only for the word true', () => {
  expect(holds('a', { a: 'true' })).toBe(true);
  expect(holds('a', { a: ' TRUE ' })).toBe(true);
  expect(holds('a', { a: '1' })).toBe(false);
  expect(holds('a')).toBe(false);
});

test('not binds closer than and, and closer than or', () => {
  expect(holds('!a && b || c', { a: 'true', c: 'true' })).toBe(true);
  expect(holds('!a && (b || c)', { a: 'true', c: 'true' })).toBe(false);
  expect(holds('a || b && c', { a: 'true' })).toBe(true);
});

test('the keys it reads are known', () => {
  expect(compileCondition('!a || (b && a.c-d)').keys).toEqual(['a', 'b', 'a.c-d']);
});

test.each(['', '   ', 'a &&', '(a', 'a b', '&& a', 'a == b', '!', ')'])(
  '%j is refused with a sentence',
  (source) => {
    expect(() => compileCondition(source)).toThrow(SyntaxError);
  },
);
