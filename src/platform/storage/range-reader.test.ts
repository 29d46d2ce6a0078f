import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { addAbortSignal, Readable } from 'node:stream';
import { describe, expect, onTestFinished, test } from 'vitest';
import { bytes, source } from '#test/support/bytes.ts';
import { folderForThisFile } from '#test/support/folders.ts';
import { exchange } from '#test/support/raw-http.ts';
import { storageWith } from '#test/support/storage-with.ts';
import { FolderStorage } from './folder.ts';
import { objectKey } from './object-keys.ts';
import { ObjectNotFound, type ObjectStorage } from './object-storage.ts';
import { RangeReader } from './range-reader.ts';

const MIB = 2 ** 20;
/** More than the reader keeps. */
const CONTENT = bytes(33 * MIB + 123);
const KEY = objectKey('track');
const END = CONTENT.length - 1;
const FIRST_BYTES = 256 * 1024;
const ALL = `0-${END}`;

const storage = await new FolderStorage(await folderForThisFile()).open();
await storage.put(KEY, source(CONTENT), { mediatype: 'video/mp4' });

/** A reader of the object, what it has reported, and the ranges that it has asked for. */
async function open(get: ObjectStorage['get'] = storage.get.bind(storage)) {
  const faults: unknown[] = [];
  const controller = new AbortController();
  const ranges: string[] = [];
  const counted: ObjectStorage['get'] = (key, range, signal) => {
    ranges.push(`${range?.start}-${range?.end}`);
    return get(key, range, signal);
  };
  const reader = new RangeReader({
    storage: storageWith(storage, { get: counted }),
    signal: controller.signal,
    onFault: async (error) => void faults.push(error),
  });
  onTestFinished(() => reader.close());
  const address = await reader.address(KEY);
  const ask = (range?: string, method = 'GET') =>
    fetch(address, { method, ...(range && { headers: { Range: `bytes=${range}` } }) });
  return { reader, address, ask, faults, ranges, controller };
}

/** Begins an answer, and reads no more of it until the test ends or leaves. */
async function begin(address: string) {
  const question = get(address, { agent: false, headers: { Range: `bytes=${ALL}` } });
  const [answer] = (await once(question, 'response')) as [IncomingMessage];
  answer.on('error', () => undefined);
  onTestFinished(() => void answer.destroy());
  return answer;
}

/** Reads from a position on as tools do: again from the end of each part. */
async function readOn(ask: (range: string) => Promise<Response>, position = 0) {
  const parts: Buffer[] = [];
  for (let at = position; at < CONTENT.length; at += parts.at(-1)?.length ?? 0) {
    const answer = await ask(`${at}-`);
    parts.push(Buffer.from(await answer.arrayBuffer()));
    const range = `bytes ${at}-${at + (parts.at(-1)?.length ?? 0) - 1}/${CONTENT.length}`;
    expect([answer.status, answer.headers.get('Content-Range')]).toEqual([206, range]);
  }
  return parts;
}

describe('an answer', () => {
  test.each([
    [ALL, 0, END],
    ['10000000-19999999', 10_000_000, 19_999_999],
    ['65535-65536', 65_535, 65_536],
    ['-100', END - 99, END],
    [`${END}-99999999`, END, END],
  ])('has the bytes %s', async (range, start, end) => {
    const { ask, faults } = await open();
    const answer = await ask(range);
    expect([answer.status, answer.headers.get('Content-Range')]).toEqual([
      206,
      `bytes ${start}-${end}/${CONTENT.length}`,
    ]);
    expect(CONTENT.subarray(start, end + 1).equals(Buffer.from(await answer.arrayBuffer()))).toBe(true);
    expect(faults).toEqual([]);
  });

  test('has all bytes without a range, and their number for HEAD', async () => {
    const { ask, reader } = await open();
    const head = await ask('5-9', 'HEAD');
    const facts = [head.status, head.headers.get('Content-Length'), head.headers.get('Accept-Ranges')];
    expect(facts).toEqual([200, String(CONTENT.length), 'bytes']);
    expect(reader.bytesRead).toBe(0);
    const whole = await ask();
    expect([whole.status, (await whole.arrayBuffer()).byteLength]).toEqual([200, CONTENT.length]);
    expect(reader.bytesRead).toBe(CONTENT.length);
  });

  test.each([
    ['HEAD', '5-', 200],
    ['GET', '0-9,20-', 200],
  ])('is not shortened for %s with the range %s, which selects everything', async (method, range, status) => {
    const answer = await (await open()).ask(range, method);
    const length = answer.headers.get('Content-Length');
    await answer.body?.cancel();
    expect([answer.status, length]).toEqual([status, String(CONTENT.length)]);
  });

  test('is 416 with the size beyond the end', async () => {
    const answer = await (await open()).ask(`${CONTENT.length}-`);
    expect([answer.status, answer.headers.get('Content-Range')]).toEqual([416, `bytes */${CONTENT.length}`]);
  });

  test('is refused for another path, method or host, and when the reader is closed', async () => {
    const { address, ask, reader, ranges } = await open();
    const other = await open();
    const { host, pathname, port } = new URL(address);
    const status = async (head: string, to = host) =>
      (await exchange(address, `${head} HTTP/1.1\r\nHost: ${to}\r\nConnection: close\r\n\r\n`)).answer.slice(9, 12);
    expect(await status(`GET ${new URL(other.address).pathname}`)).toBe('404');
    for (const path of ['/', pathname.slice(0, -1), `${pathname}/`, `${pathname}?x`, `/${KEY}`])
      expect(await status(`GET ${path}`), path).toBe('404');
    for (const to of [`localhost:${port}`, 'inlet.example', '127.0.0.1'])
      expect(await status(`GET ${pathname}`, to), to).toBe('404');
    expect((await ask(undefined, 'POST')).status).toBe(405);
    expect(ranges).toEqual([]);
    await reader.close();
    await expect(ask()).rejects.toThrow();
    await expect(reader.address(KEY)).rejects.toThrow('closed');
  });
});

describe('an address', () => {
  test('is the same for the same object, and has 192 random bits', async () => {
    const { reader, address } = await open();
    expect(await reader.address(KEY)).toBe(address);
    expect(address).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/[\w-]{32}$/);
    await expect(reader.address(objectKey('track'))).rejects.toBeInstanceOf(ObjectNotFound);
  });
});

describe('the storage', () => {
  test('is read by a tool that reads on in growing steps, and once for bytes that are read again', async () => {
    const { ask, reader } = await open();
    const parts = await readOn(ask);
    expect(CONTENT.equals(Buffer.concat(parts))).toBe(true);
    const lengths = parts.map((part) => part.length);
    expect([lengths[0], Math.max(...lengths) > 3 * MIB]).toEqual([FIRST_BYTES, true]);
    for (const [place, length] of lengths.entries()) {
      const before = lengths.slice(0, place).reduce((sum, each) => sum + each, 0);
      expect(length).toBeLessThanOrEqual(Math.max(FIRST_BYTES, before / 8));
    }
    expect(reader.bytesRead).toBe(CONTENT.length);
    await (await ask(`${MIB * 10}-${END}`)).arrayBuffer();
    expect(reader.bytesRead).toBe(CONTENT.length);
  });

  test('is read in small steps after a jump', async () => {
    const { ask } = await open();
    await readOn(ask);
    expect((await (await ask(`${20 * MIB}-`)).arrayBuffer()).byteLength).toBe(FIRST_BYTES);
  });

  test('is left when the client goes', async () => {
    let cancelled = false;
    const { address, faults } = await open(async (key, range, signal) => {
      await once(signal as AbortSignal, 'abort');
      cancelled = true;
      return storage.get(key, range, signal);
    });
    const answer = await begin(address);
    answer.destroy();
    await expect.poll(() => cancelled).toBe(true);
    expect(faults).toEqual([]);
  });

  test('is not asked again for what arrived before a client left', async () => {
    let stalls = true;
    const { ask, address, ranges, reader } = await open(async (key, range, signal) => {
      if (!stalls) return storage.get(key, range, signal);
      stalls = false;
      const stalled = addAbortSignal(signal as AbortSignal, source(CONTENT.subarray(0, MIB + 10), 'stall'));
      return Readable.toWeb(stalled) as ReadableStream<Uint8Array>;
    });
    const answer = await begin(address);
    await expect.poll(() => reader.bytesRead).toBe(MIB + 10);
    answer.destroy();
    await (await ask(`0-${4 * MIB - 1}`)).arrayBuffer();
    expect(ranges[1]).toMatch(new RegExp(`^${MIB}-`));
  });

  test('is read again in large steps when an object is larger than what is kept', async () => {
    const { ask, ranges } = await open();
    await (await ask(ALL)).arrayBuffer();
    const first = ranges.splice(0);
    await (await ask(ALL)).arrayBuffer();
    expect(ranges).toEqual(first);
  });

  test.each<[string, ObjectStorage['get']]>([
    ['the connection broke', () => Promise.reject(new Error('the connection broke'))],
    ['sent less', () => storage.get(KEY, { start: 0, end: 9 })],
  ])('is reported when it fails in the middle: %s', async (message, fail) => {
    const { ask, faults } = await open((key, range, signal) =>
      range && range.start >= MIB ? fail(key, range, signal) : storage.get(key, range, signal),
    );
    const answer = await ask(ALL);
    await expect(answer.arrayBuffer()).rejects.toThrow();
    expect(faults).toEqual([expect.objectContaining({ message: expect.stringContaining(message) })]);
  });

  test('is no fault when the signal ends the answers', async () => {
    const { address, controller, faults } = await open();
    const answer = await begin(address);
    const closed = once(answer, 'close');
    controller.abort(new Error('stop'));
    answer.resume();
    await expect(closed).rejects.toThrow('aborted');
    expect(faults).toEqual([]);
  });
});
