import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { addAbortSignal, Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
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
/** What the system may hold for a client that reads nothing, and the largest request to the storage. */
const UNREAD_BYTES = 16 * MIB;
/** The first three requests to the storage. */
const SENT_BYTES = 1.75 * MIB;

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

/** Reads the first bytes of an answer, and no more until the test ends or leaves. */
async function begin(address: string) {
  const question = get(address, { agent: false, headers: { Range: 'bytes=0-' } });
  const [answer] = (await once(question, 'response')) as [IncomingMessage];
  answer.on('error', () => undefined);
  await once(answer, 'readable');
  onTestFinished(() => void answer.destroy());
  return answer;
}

/** Waits until a number has not changed for a while. */
async function settled(read: () => number): Promise<number> {
  for (let before = -1; before !== read(); await delay(200)) before = read();
  return read();
}

describe('an answer', () => {
  test.each([
    ['0-', 0, END],
    ['10000000-', 10_000_000, END],
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
  test('is read in growing steps, and once for bytes that are read again', async () => {
    const { ask, ranges, reader } = await open();
    await (await ask('0-6000000')).arrayBuffer();
    const lengths = ranges.map((range) => range.split('-').map(Number)).map(([a = 0, b = 0]) => (b + 1 - a) / 1024);
    expect(lengths).toEqual([256, 512, 1024, 2048, 2048]);
    const before = reader.bytesRead;
    const again = await (await ask('100000-6000000')).arrayBuffer();
    expect([CONTENT.subarray(100_000, 6_000_001).equals(Buffer.from(again)), reader.bytesRead]).toEqual([true, before]);
  });

  test('is not read for a client that reads nothing, and left at once when the client goes', async () => {
    let cancelled = false;
    const { reader, address, faults } = await open(async (key, range, signal) => {
      signal?.addEventListener('abort', () => {
        cancelled = true;
      });
      // All but the first requests take until they are cancelled.
      if (range && range.start >= SENT_BYTES) await once(signal as AbortSignal, 'abort');
      return storage.get(key, range, signal);
    });
    const answer = await begin(address);
    await expect.poll(() => reader.bytesRead).toBe(SENT_BYTES);
    answer.destroy();
    await expect.poll(() => cancelled).toBe(true);
    expect([await settled(() => reader.bytesRead), faults]).toEqual([SENT_BYTES, []]);

    const patient = await open();
    await begin(patient.address);
    expect(await settled(() => patient.reader.bytesRead)).toBeLessThan(UNREAD_BYTES);
  });

  test('is not asked again for what arrived before a client left', async () => {
    let stalls = true;
    const { ask, address, ranges, reader } = await open(async (key, range, signal) => {
      if (!stalls || !range || range.start < SENT_BYTES) return storage.get(key, range, signal);
      stalls = false;
      const part = CONTENT.subarray(range.start, range.start + MIB + 10);
      const stalled = addAbortSignal(signal as AbortSignal, source(part, 'stall'));
      return Readable.toWeb(stalled) as ReadableStream<Uint8Array>;
    });
    const answer = await begin(address);
    await expect.poll(() => reader.bytesRead).toBe(SENT_BYTES + MIB + 10);
    answer.destroy();
    const asked = ranges.length;
    await (await ask(`0-${4 * MIB - 1}`)).arrayBuffer();
    expect(ranges.slice(asked)[0]).toMatch(new RegExp(`^${SENT_BYTES + MIB}-`));
  });

  test('is read again in large steps when an object is larger than what is kept', async () => {
    const { ask, ranges } = await open();
    await (await ask('0-')).arrayBuffer();
    const first = ranges.splice(0);
    await (await ask('0-')).arrayBuffer();
    expect(ranges).toEqual(first);
  });

  test.each<[string, ObjectStorage['get']]>([
    ['the connection broke', () => Promise.reject(new Error('the connection broke'))],
    ['sent less', () => storage.get(KEY, { start: 0, end: 9 })],
  ])('is reported when it fails in the middle: %s', async (message, fail) => {
    const { ask, faults } = await open((key, range, signal) =>
      range && range.start >= MIB ? fail(key, range, signal) : storage.get(key, range, signal),
    );
    const answer = await ask('0-');
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
