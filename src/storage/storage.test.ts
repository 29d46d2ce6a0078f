import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { describe, expect, test, vi } from 'vitest';
import { lookLate } from '../../test/support/busy.ts';
import { UploadMemory } from './memory.ts';
import { PartsUnderWay } from './parts-under-way.ts';
import { partBytes } from './s3-upload.ts';
import { beginSha256, sha256Of } from './sha256/sha256.ts';
import { Sha256Thread } from './sha256/sha256-thread.ts';
import { webStream } from './web-stream.ts';

const MIB = 2 ** 20;
const GIB = 1024 * MIB;

describe('the memory of uploads', () => {
  const settled = async () => {
    for (let i = 0; i < 5; i += 1) await Promise.resolve();
  };

  test('a buffer that is given back goes to the share that has waited longest', async () => {
    const memory = new UploadMemory(20);
    const [a, b, c] = [memory.share(), memory.share(), memory.share()];
    const first = await a.take(10);
    await b.take(10);
    const granted: string[] = [];
    void c.take(10).then(() => granted.push('c'));
    void memory
      .share()
      .take(10)
      .then(() => granted.push('d'));
    await settled();
    expect(granted).toEqual([]);
    a.give(first);
    await settled();
    expect(granted).toEqual(['c']);
    b.close();
    await settled();
    expect(granted).toEqual(['c', 'd']);
  });

  test('a share that has nothing comes before one that wants more', async () => {
    const memory = new UploadMemory(20);
    const [greedy, modest] = [memory.share(), memory.share()];
    const first = await greedy.take(10);
    const granted: string[] = [];
    void greedy.take(10).then(() => granted.push('greedy'));
    await modest.take(10);
    await settled();
    expect(granted).toEqual([]);
    greedy.give(first);
    await settled();
    expect(granted).toEqual(['greedy']);
  });

  test('no share gets more than an even part while there are others', async () => {
    const memory = new UploadMemory(40);
    const [greedy, other] = [memory.share(), memory.share()];
    await greedy.take(10);
    await greedy.take(10);
    const third = vi.fn();
    void greedy.take(10).then(third);
    await settled();
    expect(third).not.toHaveBeenCalled();
    other.close();
    await settled();
    expect(third).toHaveBeenCalled();
  });

  test('memory beyond whole buffers of an even part is used as well', async () => {
    const memory = new UploadMemory(30);
    const [one, other] = [memory.share(), memory.share()];
    await one.take(10);
    await other.take(10);
    await one.take(10);
    expect([one.held, other.held]).toEqual([20, 10]);
  });

  test('a buffer that is larger than all memory comes when no other share has any', async () => {
    const memory = new UploadMemory(10);
    const [small, large] = [memory.share(), memory.share()];
    await small.take(5);
    const granted = vi.fn();
    void large.take(100).then(granted);
    await settled();
    expect(granted).not.toHaveBeenCalled();
    small.close();
    await settled();
    expect(granted).toHaveBeenCalledWith(expect.objectContaining({ length: 100 }));
  });

  test('a share that is closed holds nothing and asks for nothing', async () => {
    const memory = new UploadMemory(10);
    const [a, b] = [memory.share(), memory.share()];
    const buffer = await a.take(10);
    const granted = vi.fn();
    void b.take(10).then(granted);
    b.close();
    a.close();
    a.give(buffer);
    void a.take(10).then(granted);
    await settled();
    expect(granted).not.toHaveBeenCalled();
    expect(await memory.share().take(10)).toBe(buffer);
  });

  test('a share that waits for a large buffer is passed by others for whom there is memory, but not for ever', async () => {
    const memory = new UploadMemory(20);
    const holder = memory.share();
    const held = await holder.take(10);
    const large = vi.fn();
    void memory.share().take(20).then(large);
    let passed = 0;
    for (; passed < 1000; passed++) {
      const small = memory.share();
      const granted = vi.fn();
      void small.take(10).then(granted);
      await settled();
      const came = granted.mock.calls.length > 0;
      small.close();
      if (!came) break;
    }
    expect(passed).toBeGreaterThan(0);
    expect(passed).toBeLessThan(1000);
    expect(large).not.toHaveBeenCalled();
    holder.give(held);
    await settled();
    expect(large).toHaveBeenCalled();
  });
});

describe('how many parts are under way', () => {
  const widths = (store: (atOnce: number) => number) => {
    const width = new PartsUnderWay();
    width.took(store(1), 1);
    return Array.from({ length: 50 }, () => {
      width.took(store(width.most), width.most);
      return width.most;
    });
  };

  test('a store that is far away gets as many parts as allowed', () => {
    expect(widths(() => 100).at(-1)).toBe(8);
  });

  test('a store that takes one part after the other gets few', () => {
    expect(Math.max(...widths((atOnce) => atOnce * 20))).toBeLessThanOrEqual(4);
  });

  test('a line that becomes slow gets fewer', () => {
    let parts = 0;
    const found = widths((atOnce) => (++parts < 20 ? 100 : atOnce * 100));
    expect(found[15]).toBe(8);
    expect(found.at(-1)).toBeLessThanOrEqual(5);
  });

  test('what was not used is not made wider', () => {
    const width = new PartsUnderWay();
    for (let i = 0; i < 20; i += 1) width.took(100, 1);
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

describe('SHA-256', () => {
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

  test('the sum of bytes, large and small', async () => {
    for (const bytes of [shared(3 * MIB, 7), shared(3, 7)]) expect(await sha256Of(bytes)).toBe(sumOf(bytes));
  });

  test('requests to a thread that has stopped are rejected', async () => {
    const thread = new Sha256Thread();
    const stream = thread.nextStream();
    // It ends with what it cannot look at.
    const beyond = { memory: new SharedArrayBuffer(1), from: 5, bytes: 1 };
    const asked = [thread.ask({ stream, more: beyond }), thread.ask({ stream, end: 'sum' })];
    for (const each of await Promise.allSettled(asked)) expect(each.status).toBe('rejected');
    expect(thread.works).toBe(false);
    await expect(thread.ask({ stream, end: 'sum' })).rejects.toThrow('has ended');
  });
});
