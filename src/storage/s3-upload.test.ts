import { expect, test } from 'vitest';
import { partBytes } from './s3-upload.ts';

const MIB = 2 ** 20;
const GIB = 1024 * MIB;

test.each([undefined, 0, 1, 80 * GIB, 100 * GIB, 156 * GIB, 5 * 1024 * GIB])(
  'cuts %s bytes into parts that a store takes',
  (expectedBytes) => {
    const size = partBytes(expectedBytes);
    expect(Math.ceil((expectedBytes ?? 100 * GIB) / size)).toBeLessThanOrEqual(10_000);
    expect(size).toBeGreaterThanOrEqual(5 * MIB);
    expect(size).toBeLessThanOrEqual(5 * GIB);
  },
);
