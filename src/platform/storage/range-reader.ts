import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { ByteRange, ObjectStorage } from './object-storage.ts';
import { requestedRange } from './requested-range.ts';

const HOST = '127.0.0.1';
const TOKEN_BYTES = 24;
/** The smallest unit that is read from the storage and kept. */
export const BLOCK_BYTES = 64 * 1024;
/** The smallest and largest request to the storage for a tool that reads on: 256 KiB and 4 MiB. */
const MIN_FETCH_BLOCKS = 4;
const MAX_FETCH_BLOCKS = 64;
/** 32 MiB. Each tool reads the index of a recording again, and some files have sound far from its pictures. */
const KEPT_BLOCKS = 512;
/** The share of the bytes read so far by which a tool may be sent more than it needs. */
const AHEAD = 1 / 8;
/** A request for all bytes from a position on. */
const OPEN_RANGE = /\d-[ \t]*$/;
const FETCH_MS = 60_000;

/** Returns true for an address of a `RangeReader`; paths of files differ. */
export function isReaderAddress(path: string): boolean {
  return path.startsWith(`http://${HOST}:`);
}

export interface RangeReaderOptions {
  storage: Pick<ObjectStorage, 'get' | 'size'>;
  /** Aborting it ends all answers. */
  signal: AbortSignal;
  /** Receives an error of the storage before the answer breaks off, which tools may take for the end of the file. */
  onFault: (error: unknown) => Promise<void>;
}

interface ServedObject {
  key: string;
  /** Bytes. */
  size: number;
  /** The position behind the last answer, and how many bytes before it were read without a jump. */
  next: number;
  inSequence: number;
}

/**
 * Serves stored objects by byte ranges to tools on this machine, at addresses that nobody can guess. Tools ask for all
 * bytes from a position on and leave when they need others, so they get a part of what they asked for and ask again:
 * of a longer answer, the system would hold megabytes that they never read. The last bytes are kept for the next request.
 */
export class RangeReader {
  readonly #options: RangeReaderOptions;
  readonly #served = new Map<string, ServedObject>();
  readonly #blocks = new Map<string, Uint8Array>();
  readonly #closing = new AbortController();
  #server: Promise<Server> | undefined;
  #bytesRead = 0;

  constructor(options: RangeReaderOptions) {
    this.#options = options;
  }

  /** The bytes received from the storage. */
  get bytesRead(): number {
    return this.#bytesRead;
  }

  /**
   * Returns the address of an object, which is valid until the reader closes: `http://127.0.0.1:PORT/TOKEN`.
   *
   * @throws {ObjectNotFound} or an error of the storage
   */
  async address(objectKey: string): Promise<string> {
    const size = await this.#options.storage.size(objectKey);
    this.#closing.signal.throwIfAborted();
    this.#server ??= listen((request, response) => void this.#answer(request, response));
    const { port } = (await this.#server).address() as AddressInfo;
    const known = this.#served.entries().find(([, { key }]) => key === objectKey);
    const token = known?.[0] ?? randomBytes(TOKEN_BYTES).toString('base64url');
    if (!known) this.#served.set(token, { key: objectKey, size, next: 0, inSequence: 0 });
    return `http://${HOST}:${port}/${token}`;
  }

  /** Forgets all addresses and ends all answers. */
  async close(): Promise<void> {
    this.#closing.abort(new Error('The reader was closed.'));
    this.#served.clear();
    this.#blocks.clear();
    const server = await this.#server?.catch(() => undefined);
    server?.close();
    server?.closeAllConnections();
  }

  async #answer({ method, url = '', headers, socket }: IncomingMessage, response: ServerResponse): Promise<void> {
    const object = this.#served.get(url.slice(1));
    if (!object || headers.host !== `${HOST}:${socket.localPort}`) return void response.writeHead(404).end();
    if (method !== 'GET' && method !== 'HEAD') return void response.writeHead(405, { Allow: 'GET, HEAD' }).end();
    const { size } = object;
    const range = method === 'GET' ? requestedRange(headers.range, size) : 'all';
    if (range === 'unsatisfiable') return void response.writeHead(416, { 'Content-Range': `bytes */${size}` }).end();
    const { start, end } = answeredRange(object, range, headers.range);
    response.writeHead(range === 'all' ? 200 : 206, {
      'Accept-Ranges': 'bytes',
      'Content-Length': end - start + 1,
      ...(range !== 'all' && { 'Content-Range': `bytes ${start}-${end}/${size}` }),
    });
    if (method === 'HEAD') return void response.end();
    // A tool that seeks reads from its former connection until this one has answered.
    response.flushHeaders();
    const gone = new AbortController();
    response.once('close', () => gone.abort());
    const until = AbortSignal.any([gone.signal, this.#closing.signal, this.#options.signal]);
    try {
      await this.#send(object, { start, end }, response, until);
      response.end();
    } catch (error) {
      if (!until.aborted) await this.#options.onFault(error);
      response.destroy();
    }
  }

  async #send(object: ServedObject, { start, end }: ByteRange, response: ServerResponse, until: AbortSignal) {
    for (let at = start; at <= end; ) {
      const first = Math.floor(at / BLOCK_BYTES);
      const kept = this.#blocks.get(blockKey(object, first));
      if (kept) this.#keep(blockKey(object, first), kept);
      const most = Math.min(MAX_FETCH_BLOCKS, Math.floor(end / BLOCK_BYTES) - first + 1);
      const bytes = kept ?? (await this.#fetch(object, first, most, until));
      const part = bytes.subarray(at - first * BLOCK_BYTES, end + 1 - first * BLOCK_BYTES);
      at += part.length;
      if (!response.write(part)) await once(response, 'drain', { signal: until });
    }
  }

  /** Keeps a block as the latest one. */
  #keep(key: string, block: Uint8Array): void {
    this.#blocks.delete(key);
    this.#blocks.set(key, block);
    const [oldest = key] = this.#blocks.keys();
    if (this.#blocks.size > KEPT_BLOCKS) this.#blocks.delete(oldest);
  }

  /** Reads blocks from the storage: at most so many, and none that stays kept. */
  async #fetch(object: ServedObject, first: number, most: number, until: AbortSignal): Promise<Uint8Array> {
    const kept = [...this.#blocks.keys()];
    // A block that the new ones evict is read with them.
    const staysKept = (at: number) =>
      kept.indexOf(blockKey(object, first + at)) >= Math.max(0, kept.length + at - KEPT_BLOCKS);
    let count = 1;
    while (count < most && !staysKept(count)) count += 1;
    const start = first * BLOCK_BYTES;
    const bytes = new Uint8Array(Math.min(count * BLOCK_BYTES, object.size - start));
    const range = { start, end: start + bytes.length - 1 };
    const limit = AbortSignal.any([until, AbortSignal.timeout(FETCH_MS)]);
    let filled = 0;
    let done = 0;
    for await (const chunk of await this.#options.storage.get(object.key, range, limit)) {
      this.#bytesRead += chunk.length;
      bytes.set(chunk, filled);
      filled += chunk.length;
      // As they arrive, because a tool may leave before the last one.
      for (; done < count && (filled === bytes.length || (done + 1) * BLOCK_BYTES <= filled); done++) {
        // A copy, because a view would keep all the bytes.
        this.#keep(blockKey(object, first + done), bytes.slice(done * BLOCK_BYTES, (done + 1) * BLOCK_BYTES));
      }
    }
    if (filled < bytes.length) throw new Error('The object storage sent less of an object than was asked for.');
    return bytes;
  }
}

function answeredRange(object: ServedObject, range: ByteRange | 'all', header = ''): ByteRange {
  if (range === 'all') return { start: 0, end: object.size - 1 };
  return OPEN_RANGE.test(header) ? nextBytes(object, range.start) : range;
}

/** Returns how much of all bytes from `start` on a tool gets: more, the longer it has read on without a jump. */
function nextBytes(object: ServedObject, start: number): ByteRange {
  const inSequence = start === object.next ? object.inSequence : 0;
  const wanted = Math.floor((inSequence * AHEAD) / BLOCK_BYTES);
  const blocks = Math.min(Math.max(wanted, MIN_FETCH_BLOCKS), MAX_FETCH_BLOCKS);
  object.next = Math.min((Math.floor(start / BLOCK_BYTES) + blocks) * BLOCK_BYTES, object.size);
  object.inSequence = inSequence + object.next - start;
  return { start, end: object.next - 1 };
}

function blockKey({ key }: ServedObject, block: number): string {
  return `${key} ${block}`;
}

async function listen(answer: (request: IncomingMessage, response: ServerResponse) => void): Promise<Server> {
  const server = createServer(answer).listen(0, HOST);
  await once(server, 'listening');
  // Without a listener, a failure to accept a connection would end the process.
  server.on('error', () => undefined);
  return server;
}
