import { once } from 'node:events';
import { open } from 'node:fs/promises';
import http, { type IncomingMessage } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { BLOCK_BYTES, isReaderAddress } from '../storage/range-reader.ts';

/** Bytes that can be read at any position. An open file is one. */
export interface ByteSource {
  /** True if bytes come from an object storage, which takes long to answer for each place. */
  readonly isRemote?: boolean;
  /** Fills a buffer from `offset` on with the bytes at `position`; fewer at the end. */
  read(target: Buffer, offset: number, length: number, position: number): Promise<{ bytesRead: number }>;
  close(): Promise<void>;
}

/**
 * Opens a file, or an object behind an address of a `RangeReader`.
 *
 * @returns its bytes and their number
 * @throws an error of the file system or the connection
 */
export async function openBytes(path: string): Promise<ByteSource & { size: number }> {
  if (isReaderAddress(path)) return openAddress(path);
  const file = await open(path, 'r');
  try {
    const { size } = await file.stat();
    return { size, read: (...where) => file.read(...where), close: () => file.close() };
  } catch (error) {
    await file.close();
    throw error;
  }
}

/** Keeps the last bytes: a file may take a million reads of a few bytes, and each request is a new connection. */
async function openAddress(address: string): Promise<ByteSource & { size: number }> {
  const head = await sendRequest(address, 'HEAD');
  head.resume();
  if (head.statusCode !== 200) throw new Error(`The reader answered with status ${head.statusCode}.`);
  const size = Number(head.headers['content-length']);
  let kept: { start: number; bytes: Buffer } = { start: 0, bytes: Buffer.alloc(0) };
  return {
    size,
    isRemote: true,
    read: async (target, offset, length, position) => {
      const end = Math.min(position + length, size);
      if (position >= end) return { bytesRead: 0 };
      if (length > BLOCK_BYTES) return { bytesRead: (await requestBytes(address, position, end)).copy(target, offset) };
      if (position < kept.start || end > kept.start + kept.bytes.length) {
        // The rest of the block, which the reader fetches from the storage anyway.
        const blockEnd = Math.ceil(end / BLOCK_BYTES) * BLOCK_BYTES;
        kept = { start: position, bytes: await requestBytes(address, position, blockEnd) };
      }
      return { bytesRead: kept.bytes.copy(target, offset, position - kept.start, end - kept.start) };
    },
    close: async () => undefined,
  };
}

/** Returns the bytes from `start` to before `end`; none if the reader has no such bytes. */
async function requestBytes(address: string, start: number, end: number): Promise<Buffer> {
  const response = await sendRequest(address, 'GET', `bytes=${start}-${end - 1}`);
  if (response.statusCode === 206) return buffer(response);
  response.destroy();
  return Buffer.alloc(0);
}

/** Waits no longer than the reader, which ends every answer. */
async function sendRequest(address: string, method: string, range?: string): Promise<IncomingMessage> {
  // Not `fetch`, which Deno sends to the proxy of the environment.
  const request = http.request(address, { method, agent: false, headers: range ? { Range: range } : {} }).end();
  request.on('error', () => undefined);
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  return response;
}
