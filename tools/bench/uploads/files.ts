import { randomFillSync } from 'node:crypto';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import type { Bench } from '../setup/bench.ts';

const BLOCK_BYTES = 2 ** 20;

/** A file of random bytes, on the disk before anything is measured. */
export async function writeRandom(bench: Bench, name: string, bytes: number): Promise<{ file: string; bytes: number }> {
  const file = join(bench.folder, `${name}.bin`);
  const handle = await open(file, 'wx');
  try {
    const block = Buffer.alloc(BLOCK_BYTES);
    for (let left = bytes; left > 0; left -= BLOCK_BYTES) {
      await handle.write(randomFillSync(block), 0, Math.min(left, BLOCK_BYTES));
    }
    await handle.sync();
  } finally {
    await handle.close();
  }
  return { file, bytes };
}
