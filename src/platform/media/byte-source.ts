import { once } from 'node:events';
import { open } from 'node:fs/promises';
import http, { type IncomingMessage } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { isReaderAddress } from '../storage/range-reader.ts';

/** Bytes that can be read at any position. An open file is one. */
export interface ByteSource {
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

async function openAddress(address: string): Promise<ByteSource & { size: number }> {
  const head = await sendRequest(address, 'HEAD');
  head.resume();
  if (head.statusCode !== 200) throw new Error(`The reader answered with status ${head.statusCode}.`);
  return {
    size: Number(head.headers['content-length']),
    read: async (target, offset, length, position) => {
      const response = await sendRequest(address, 'GET', `bytes=${position}-${position + length - 1}`);
      if (response.statusCode === 206) return { bytesRead: (await buffer(response)).copy(target, offset) };
      response.destroy();
      return { bytesRead: 0 };
    },
    close: async () => undefined,
  };
}

/** Waits no longer than the reader, which ends every answer. */
async function sendRequest(address: string, method: string, range?: string): Promise<IncomingMessage> {
  // Not `fetch`, which Deno sends to the proxy of the environment.
  const request = http.request(address, { method, agent: false, headers: range ? { Range: range } : {} }).end();
  request.on('error', () => undefined);
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  return response;
}
