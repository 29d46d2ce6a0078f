import { expect, test } from 'vitest';
import { reasonKey } from './reason-key.ts';

test.each([
  ['The program "a.sh" ended with exit code 3.', 'The program "b.sh" ended with exit code 14.'],
  ['The file breaks off after 12.5 seconds.', 'The file breaks off after 3 seconds.'],
  ["Track '0f5f3c9e-7b52-4d55-8a4e-3a1c5f0e6d21' is gone.", "Track 'x' is gone."],
])('%j and %j are the same reason', (one, other) => {
  expect(reasonKey(one)).toBe(reasonKey(other));
});

test('other words are another reason', () => {
  expect(reasonKey('The file is no recording.')).not.toBe(reasonKey('The file is encrypted.'));
});

test('a character that stands where it is cut off does not leave a half of itself', () => {
  const key = reasonKey(`${'x'.repeat(299)}🎬`);
  expect([key.length, key.isWellFormed()]).toEqual([300, true]);
});
