import { createHash, randomBytes } from 'node:crypto';
import { mkdtemp, open, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { describe, expect, onTestFinished, test } from 'vitest';
import { lookLate } from '#test/support/busy.ts';
import { fileWriter } from './durable-file.ts';
import { measureFile } from './put-measured.ts';
import { PartConcurrency, partBytes } from './s3-upload.ts';
import { beginSha256, StorageThread, sha256Of, sha256OfFile } from './thread/storage-thread.ts';
import { UploadMemory } from './upload-memory.ts';
import { copyToShared } from './upload-source.ts';
import { webStream } from './web-stream.ts';

const MIB = 2 ** 20;
const GIB = 1024 * MIB;

describe('the memory of uploads', () => {
  const settled = async () => {
    for (let i = 0; i < 5; i += 1) await Promise.resolve();
  };
  type Share = ReturnType<UploadMemory['share']>;
  const twoShares = (bytes: number) => {
    const memory = new UploadMemory(bytes);
    return [memory.share(), memory.share()] as const;
  };
  /** Asks for a buffer. @returns how many bytes have come by then */
  function asking(share: Share, bytes: number): () => Promise<number> {
    let came = 0;
    void share.take(bytes).then(({ length }) => {
      came = length;
    });
    return async () => {
      await settled();
      return came;
    };
  }

  test('a buffer that is given back goes to the share that has waited longest', async () => {
    const memory = new UploadMemory(20);
    const [a, b, c, d] = [memory.share(), memory.share(), memory.share(), memory.share()];
    const first = await a.take(10);
    await b.take(10);
    const [third, fourth] = [asking(c, 10), asking(d, 10)];
    expect([await third(), await fourth()]).toEqual([0, 0]);
    a.give(first);
    expect([await third(), await fourth()]).toEqual([10, 0]);
    b.close();
    expect(await fourth()).toBe(10);
  });

  test('a share that has nothing comes before one that wants more', async () => {
    const [greedy, modest] = twoShares(20);
    const first = await greedy.take(10);
    const more = asking(greedy, 10);
    await modest.take(10);
    expect(await more()).toBe(0);
    greedy.give(first);
    expect(await more()).toBe(10);
  });

  test('no share gets more than an even part while there are others', async () => {
    const [greedy, other] = twoShares(40);
    for (let i = 0; i < 2; i += 1) await greedy.take(10);
    const third = asking(greedy, 10);
    expect(await third()).toBe(0);
    other.close();
    expect(await third()).toBe(10);
  });

  test('memory beyond whole buffers of an even part is used as well', async () => {
    const [one, other] = twoShares(30);
    const buffers = await Promise.all([one, other, one].map((share) => share.take(10)));
    expect(buffers.map(({ length }) => length)).toEqual([10, 10, 10]);
  });

  test('a buffer that is larger than all memory comes when no other share has any', async () => {
    const [small, large] = twoShares(10);
    await small.take(5);
    const all = asking(large, 100);
    expect(await all()).toBe(0);
    small.close();
    expect(await all()).toBe(100);
  });

  test('a share that is closed holds nothing and asks for nothing', async () => {
    const memory = new UploadMemory(10);
    const [a, b] = [memory.share(), memory.share()];
    const buffer = await a.take(10);
    const waiting = asking(b, 10);
    b.close();
    a.close();
    a.give(buffer);
    const late = asking(a, 10);
    expect([await waiting(), await late()]).toEqual([0, 0]);
    expect(await memory.share().take(10)).toBe(buffer);
  });

  test('a share that waits for a large buffer is passed by others for whom there is memory, but not for ever', async () => {
    const memory = new UploadMemory(20);
    const holder = memory.share();
    const held = await holder.take(10);
    const large = asking(memory.share(), 20);
    let passed = 0;
    for (let came = 10; came > 0 && passed < 1000; passed += came / 10) {
      const small = memory.share();
      came = await asking(small, 10)();
      small.close();
    }
    expect(passed).toBeGreaterThan(0);
    expect(passed).toBeLessThan(1000);
    expect(await large()).toBe(0);
    holder.give(held);
    expect(await large()).toBe(20);
  });
});

describe('how many parts are under way', () => {
  const widths = (store: (atOnce: number) => number) => {
    const width = new PartConcurrency();
    width.record(store(1), 1);
    return Array.from({ length: 50 }, () => {
      width.record(store(width.most), width.most);
      return width.most;
    });
  };

  test('a store that is far away gets as many parts as allowed', () => {
    expect(widths(() => 120).at(-1)).toBe(8);
  });

  test('a near store gets fewer', () => {
    expect([5, 50, 90].map((ms) => widths(() => ms).at(-1))).toEqual([4, 4, 6]);
  });

  test('a store that takes one part after the other gets few', () => {
    expect(Math.max(...widths((atOnce) => atOnce * 20))).toBeLessThanOrEqual(4);
  });

  test('a line that becomes slow gets fewer', () => {
    let parts = 0;
    const found = widths((atOnce) => (++parts < 20 ? 120 : atOnce * 120));
    expect(found[15]).toBe(8);
    expect(found.at(-1)).toBeLessThanOrEqual(5);
  });

  test('what was not used is not made wider', () => {
    const width = new PartConcurrency();
    for (let i = 0; i < 20; i += 1) width.record(100, 1);
    expect(width.most).toBe(2);
  });
});

test.each([undefined, 0, 1, 80 * GIB, 100 * GIB, 156 * GIB, 5 * 1024 * GIB])(
  'cuts %s bytes into parts that a store takes',
  (expectedBytes) => {
    const size = partBytes(expectedBytes);
    expect(Math.ceil((expectedBytes ?? 100 * GIB) / size)).toBeLessThanOrEqual(10_000);
    expect(size).toBeGreaterThanOrEqual(5 * MIB);
    expect(size).toBeLessThanOrEqual(5 * GIB);
  },
);

test('bytes that came to a web stream while the process had no time to look are not late', async () => {
  async function* late() {
    await lookLate();
    yield Buffer.from('a');
  }
  expect(await text(webStream(Readable.from(late()), { idleMs: 20 }))).toBe('a');
});

const shared = (bytes: number, fill: number) => Buffer.from(new SharedArrayBuffer(bytes)).fill(fill);

describe('SHA-256', () => {
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
    for (const part of parts) expect(await sha256Of(part)).toBe(sumOf(part));
  });

  test('concurrent streams are summed apart, also when one is dropped', async () => {
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

  test('the sum of a file of several parts, and of one that is gone', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'sum-'));
    onTestFinished(() => rm(folder, { recursive: true }));
    const path = join(folder, 'file');
    const bytes = Buffer.concat([Buffer.alloc(4 * MIB, 1), Buffer.alloc(5, 2)]);
    await writeFile(path, bytes);
    expect(await measureFile(path)).toEqual({ size: bytes.length, sha256: sumOf(bytes) });
    await expect(sha256OfFile(path, bytes.length + 1)).rejects.toThrow('shorter');
    await expect(measureFile(path, AbortSignal.abort(new Error('stopped')))).rejects.toThrow('stopped');
    await rm(path);
    await expect(sha256OfFile(path, 1)).rejects.toMatchObject({ code: 'ENOENT' });
  });

  test('requests to a thread that has stopped are rejected', async () => {
    const thread = new StorageThread();
    const ask = thread.stream();
    // It stops at what it cannot look at.
    const beyond = { memory: new SharedArrayBuffer(1), from: 5, bytes: 1 };
    const asked = [ask({ sum: beyond }), ask({ end: 'sum' })];
    for (const each of await Promise.allSettled(asked)) expect(each.status).toBe('rejected');
    expect(thread.works).toBe(false);
    await expect(ask({ end: 'sum' })).rejects.toThrow('has exited');
  });
});

test.each([
  [0, 0],
  [3, 3],
  [3, 8],
  [0, 5],
])('bytes at %i of a word are copied into shared memory at %i of one', (from, at) => {
  const bytes = randomBytes(200_000).subarray(from);
  const target = shared(200_100, 1);
  copyToShared(bytes, target, at);
  expect(target.subarray(at, at + bytes.length).equals(bytes)).toBe(true);
  expect(target.subarray(at + bytes.length).every((byte) => byte === 1)).toBe(true);
});

describe('a writer of files', () => {
  /** Opens a file, and closes it with its writer. */
  async function writing(path: string, flags: string, use: (writer: ReturnType<typeof fileWriter>) => Promise<void>) {
    const file = await open(path, flags);
    const writer = fileWriter(path, file);
    try {
      await use(writer);
    } finally {
      await writer.close();
      await file.close();
    }
  }

  test('writes small and large blocks where they belong', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'inlet-writer-'));
    const path = join(folder, 'file');
    const [large, small, plain] = [shared(MIB + 5, 1), shared(7, 2), Buffer.alloc(100_000, 3)];
    await writing(path, 'wx', async (writer) => {
      await Promise.all([
        writer.write(small, large.length),
        writer.write(large, 0),
        writer.write(plain, large.length + small.length),
      ]);
    });
    expect((await readFile(path)).equals(Buffer.concat([large, small, plain]))).toBe(true);
    await rm(folder, { recursive: true });
  });

  test('keeps the code of what the system refuses', async () => {
    await writing('/dev/full', 'r+', async (writer) => {
      await expect(writer.write(shared(MIB, 1), 0)).rejects.toMatchObject({ code: 'ENOSPC' });
    });
  });

  test('fails for every block when the file has been removed', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'inlet-writer-'));
    const path = join(folder, 'file');
    await writing(path, 'wx', async (writer) => {
      await rm(folder, { recursive: true });
      for (const block of [shared(MIB, 1), shared(MIB, 2)]) {
        await expect(writer.write(block, 0)).rejects.toMatchObject({ code: 'ENOENT' });
      }
    });
  });
});
