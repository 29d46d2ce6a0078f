import { expect, test } from 'vitest';
import { bytes, sha256 } from '../../../test/support/bytes.ts';
import { Digests } from './digests.ts';

test('the digest of an upload goes on from request to request', async () => {
  const digests = new Digests();
  const data = bytes(1000);
  await digests.at('a', 0)?.add(data.subarray(0, 400));
  expect(digests.at('a', 300)).toBeUndefined();
  await digests.at('b', 0)?.add(data.subarray(0, 400));
  const digest = digests.at('b', 400);
  await digest?.add(data.subarray(400));
  expect(await digest?.digest()).toBe(sha256(data));
});

test('a digest that is given up while bytes come is none, not that of what comes afterwards', async () => {
  const digests = new Digests();
  const running = digests.at('running', 0);
  const data = bytes(200_000);
  await running?.add(data);
  for (let i = 0; i < 10_000; i += 1) digests.at(`other ${i}`, 0);
  await running?.add(data);
  expect(await running?.digest()).toBeUndefined();
});

test('whoever fails late does not give up the digest of who came in its place', async () => {
  const digests = new Digests();
  const data = bytes(100);
  const first = digests.at('a', 0);
  const second = digests.at('a', 0);
  await second?.add(data);
  digests.forget('a', first);
  expect(await digests.at('a', 100)?.digest()).toBe(sha256(data));
});
