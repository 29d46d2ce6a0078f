import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { beginSha256, sha256Of } from './sha256.ts';

const MIB = 2 ** 20;

const shared = (bytes: number, fill: number) => Buffer.from(new SharedArrayBuffer(bytes)).fill(fill);
const sumOf = (...parts: Uint8Array[]) => {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part);
  return hash.digest('hex');
};

test.each([
  ['nothing', []],
  ['a few bytes', [shared(10, 1), shared(5, 2)]],
  ['a few bytes, then many', [shared(10, 1), shared(MIB, 2)]],
  ['blocks, and the rest of one', [shared(MIB, 1), shared(MIB, 2), shared(MIB, 3).subarray(7, 99)]],
  ['memory that is not shared', [Buffer.alloc(MIB, 1).subarray(5)]],
])('the sum of %s', async (_what, parts: Buffer[]) => {
  const sum = beginSha256();
  await Promise.all(parts.map((part) => sum.add(part)));
  expect(await sum.digest()).toBe(sumOf(...parts));
});

test('streams at once do not meet, and what is dropped disturbs nobody', async () => {
  const streams = [1, 2, 3, 4].map((fill) => ({ sum: beginSha256(), block: shared(MIB, fill) }));
  for (let i = 0; i < 3; i++) for (const { sum, block } of streams) void sum.add(block);
  streams[0]?.sum.drop();
  for (const { sum, block } of streams.slice(1)) {
    expect(await sum.digest()).toBe(sumOf(block, block, block));
  }
});

test('bytes may be used again when they have been summed', async () => {
  const sum = beginSha256();
  const block = shared(MIB, 1);
  await sum.add(block);
  block.fill(2);
  await sum.add(block);
  block.fill(3);
  expect(await sum.digest()).toBe(sumOf(shared(MIB, 1), shared(MIB, 2)));
});

test('the sum of bytes, large and small', async () => {
  for (const bytes of [shared(3 * MIB, 7), shared(3, 7)]) expect(await sha256Of(bytes)).toBe(sumOf(bytes));
});
