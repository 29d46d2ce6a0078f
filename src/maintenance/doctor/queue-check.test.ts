import { expect, test } from 'vitest';
import { isOutdated, unsuitableMode } from './queue-check.ts';

test.each([
  ['sentinel', 'the server is a Sentinel'],
  ['cluster', 'the server is a node of a cluster'],
])('a Redis in the mode %s is reported', (mode, found) => {
  expect(unsuitableMode(new Map([['redis_mode', mode]]))).toMatchObject({ state: 'fail', found });
  expect(unsuitableMode(new Map([['redis_mode', 'standalone']]))).toBeUndefined();
});

test.each([
  ['5.0.14', true],
  ['6.0.16', true],
  ['6.2.0', false],
  ['7.0.15', false],
  ['10.0.1', false],
])('Redis %s is outdated: %s', (version, outdated) => {
  expect(isOutdated(new Map([['redis_version', version]]))).toBe(outdated);
});
