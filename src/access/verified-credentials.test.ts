import { expect, test } from 'vitest';
import { anonymous } from './principal.ts';
import { VerifiedCredentialsCache } from './verified-credentials.ts';

const entry = { principal: anonymous, passwordHash: 'h', readAt: 0 };

test('the digest tells apart where the name ends, and differs between processes', () => {
  const cache = new VerifiedCredentialsCache();
  expect(cache.digest('a', 'bc')).toBe(cache.digest('a', 'bc'));
  expect(cache.digest('ab', 'c')).not.toBe(cache.digest('a', 'bc'));
  expect(new VerifiedCredentialsCache().digest('a', 'bc')).not.toBe(cache.digest('a', 'bc'));
});

test('what was used longest ago is forgotten first', () => {
  const cache = new VerifiedCredentialsCache(2);
  cache.set('a', entry);
  cache.set('b', entry);
  cache.get('a');
  cache.set('c', entry);
  expect(['a', 'b', 'c'].map((digest) => cache.get(digest) !== undefined)).toEqual([true, false, true]);
});
