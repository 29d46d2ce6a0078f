import { expect, test } from 'vitest';
import { Throttle } from './throttle.ts';

test('twenty failures within a minute close a key until the minute is over', () => {
  let now = 0;
  const throttle = new Throttle(20, () => now);
  for (let i = 0; i < 19; i += 1) throttle.failed('ada');
  expect(throttle.waitSeconds('ada')).toBe(0);
  now = 30_000;
  throttle.failed('ada');
  expect(throttle.waitSeconds('ada')).toBe(30);
  expect(throttle.waitSeconds('bob')).toBe(0);
  now = 60_000;
  expect(throttle.waitSeconds('ada')).toBe(0);
});

test('a success starts the count anew', () => {
  const throttle = new Throttle(20, () => 0);
  for (let i = 0; i < 19; i += 1) throttle.failed('ada');
  throttle.succeeded('ada');
  throttle.failed('ada');
  expect(throttle.waitSeconds('ada')).toBe(0);
});
