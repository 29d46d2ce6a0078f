import { expect, test } from 'vitest';
import { partPlan } from './s3-upload.ts';

const MIB = 2 ** 20;
const GIB = 1024 * MIB;

test.each([undefined, 0, 1, 80 * GIB, 100 * GIB, 156 * GIB, 5 * 1024 * GIB])(
  'cuts %s bytes into parts that a store takes',
  (expectedBytes) => {
    const { partSize } = partPlan(expectedBytes);
    expect(Math.ceil((expectedBytes ?? 100 * GIB) / partSize)).toBeLessThanOrEqual(10_000);
    expect(partSize).toBeGreaterThanOrEqual(5 * MIB);
    expect(partSize).toBeLessThanOrEqual(5 * GIB);
  },
);

test.each([undefined, 1, 50 * GIB, 100 * GIB, 200 * GIB])(
  'holds at most 64 MiB of %s bytes',
  (expectedBytes) => {
    const { partSize, queueSize } = partPlan(expectedBytes);
    expect(queueSize).toBeGreaterThanOrEqual(1);
    expect((queueSize + 2) * partSize).toBeLessThanOrEqual(64 * MIB);
  },
);
