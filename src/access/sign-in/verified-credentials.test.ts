import { expect, test } from 'vitest';
import { VerifiedCredentialsCache } from './verified-credentials.ts';

test('the digest tells apart where the name ends, and differs between processes', () => {
  const cache = new VerifiedCredentialsCache<string>();
  expect(cache.digest('a', 'bc')).toBe(cache.digest('a', 'bc'));
  expect(cache.digest('ab', 'c')).not.toBe(cache.digest('a', 'bc'));
  expect(new VerifiedCredentialsCache().digest('a', 'bc')).not.toBe(cache.digest('a', 'bc'));
});

test('what was used longest ago is forgotten first', () => {
  const cache = new VerifiedCredentialsCache<string>(2);
  cache.set('a', 'A');
  cache.set('b', 'B');
  cache.get('a');
  cache.set('c', 'C');
  expect(['a', 'b', 'c'].map((digest) => cache.get(digest) !== undefined)).toEqual([true, false, true]);
});
