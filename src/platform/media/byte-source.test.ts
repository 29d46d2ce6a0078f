import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { bytes } from '#test/support/bytes.ts';
import { requestedRange } from '../storage/requested-range.ts';
import { type ByteSource, openBytes } from './byte-source.ts';
import { checkComplete } from './completeness/completeness.ts';

const KIB = 1024;

/** An object at an address, and the ranges that were requested. */
async function atAddress(content: Buffer) {
  const requested: string[] = [];
  const server = createServer(({ method, headers }, response) => {
    const range = requestedRange(headers.range, content.length);
    if (range === 'unsatisfiable') return void response.writeHead(416).end();
    if (range === 'all') return void response.writeHead(200, { 'Content-Length': content.length }).end();
    if (method === 'GET') requested.push(`${range.start}-${range.end}`);
    response.writeHead(206).end(content.subarray(range.start, range.end + 1));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  return { object: await openBytes(`http://127.0.0.1:${port}/object`), requested };
}

async function read(object: ByteSource, position: number, length: number): Promise<Buffer> {
  const target = Buffer.alloc(length + 2);
  const { bytesRead } = await object.read(target, 1, length, position);
  expect([target[0], ...target.subarray(1 + bytesRead)].every((byte) => byte === 0)).toBe(true);
  return target.subarray(1, 1 + bytesRead);
}

test('small reads of an object at an address have its bytes, and share requests', async () => {
  const content = bytes(300 * KIB + 7);
  const { object, requested } = await atAddress(content);
  expect(object.size).toBe(content.length);
  const places = [0, 16, 64 * KIB - 8, 64 * KIB + 8, 10, 300 * KIB, content.length - 3, content.length];
  for (const place of places) {
    const found = await read(object, place, 16);
    expect(found.equals(content.subarray(place, place + 16)), String(place)).toBe(true);
  }
  expect(requested).toEqual([
    `0-${64 * KIB - 1}`,
    `${64 * KIB - 8}-${128 * KIB - 1}`,
    `10-${64 * KIB - 1}`,
    `${300 * KIB}-${content.length - 1}`,
  ]);
  const long = await read(object, 100, 200 * KIB);
  expect(long.equals(content.subarray(100, 100 + 200 * KIB))).toBe(true);
});

test('a file of the smallest boxes takes a request for each 64 KiB', async () => {
  const box = Buffer.from([0, 0, 0, 8, ...Buffer.from('free')]);
  const { object, requested } = await atAddress(Buffer.alloc(1024 * KIB, box));
  await expect(checkComplete(object, object.size, 'mov')).rejects.toThrow('index is missing');
  expect(requested.length).toBeLessThan(20);
});
