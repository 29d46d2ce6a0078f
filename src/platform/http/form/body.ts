import type { IncomingMessage } from 'node:http';
import { setImmediate } from 'node:timers/promises';
import { patientTimer } from '../../process/timeout.ts';
import { HttpError } from '../errors/errors.ts';
import { refusal } from '../errors/refusal.ts';
import { ChunkCount, messageOf, TINY_CHUNKS as TINY_CHUNKS_SENTENCE } from '../server/incoming-message.ts';

export const SILENT = refusal(408, (seconds: number) => `Nothing was received for ${seconds} seconds.`, [60], {
  Connection: 'close',
});
const TINY_CHUNKS = refusal(400, TINY_CHUNKS_SENTENCE, [], { Connection: 'close' });

/** The client closed the connection before its request had ended; there is nobody to answer. */
export class ClientGone extends Error {
  override name = 'ClientGone';
}

/** What is asked for at once: every chunk costs each stage of an upload the same, whatever its size. */
const CHUNK_BYTES = 256 * 1024;

/** What may have come and wait to be read, before the client has to. */
const MUCH_BYTES = 256 * 1024;

/** For what is less, another look is taken at what comes next; a packet of the network may hold thousands of chunks. */
const FEW_BYTES = 16 * 1024;

/**
 * Reads a request body chunk by chunk. Only the time spent waiting for the client counts towards the idle limit, not
 * the time in which the server itself is slow.
 *
 * @throws {HttpError} 408 when the client sends nothing for `idleMs`
 * @throws {ClientGone} when the connection breaks
 */
export class BodyReader {
  readonly #source: ChunkSource;
  readonly #idleMs: number;

  constructor(request: Request, idleMs: number) {
    this.#source = openChunks(request);
    this.#idleMs = idleMs;
  }

  /** The next chunk, or undefined at the end. */
  async read(): Promise<Uint8Array | undefined> {
    try {
      return this.#source.now?.() ?? (await this.#next());
    } catch (error) {
      if (error instanceof HttpError) throw error;
      throw new ClientGone('The client closed the connection.', { cause: error });
    }
  }

  #next(): Promise<Uint8Array | undefined> {
    return new Promise((resolve, reject) => {
      const cancel = patientTimer(this.#idleMs, () => reject(SILENT(this.#idleMs / 1000)));
      this.#source.next().then(resolve, reject).finally(cancel);
    });
  }

  /** Reads no further. The rest of the body is dropped with the connection. */
  async cancel(): Promise<void> {
    await this.#source.cancel().catch(() => undefined);
  }
}

/** Whether a request brings a body. Deno's server makes one for every POST, which may turn out to be empty. */
export function hasBody(request: Request): boolean {
  const message = messageOf(request);
  if (!message) return request.body !== null && request.headers.get('Content-Length') !== '0';
  return message.headers['transfer-encoding'] !== undefined || Number(message.headers['content-length']) > 0;
}

/** Whether the body has come to its end; behind a server that is not ours, whether somebody has begun to read it. */
export function bodyIsWhole(request: Request): boolean {
  return messageOf(request)?.complete ?? request.bodyUsed;
}

interface ChunkSource {
  /** What has come already, if that is enough. */
  now?(): Uint8Array | undefined;
  next(): Promise<Uint8Array | undefined>;
  cancel(): Promise<void>;
}

function openChunks(request: Request): ChunkSource {
  const message = messageOf(request);
  if (message) return messageChunks(message);
  return request.body ? streamChunks(request.body) : { next: async () => undefined, cancel: async () => undefined };
}

/**
 * The chunks as they came: to join large ones would copy them once more. Small ones are joined, so that what a chunk costs
 * here does not depend on how it was sent.
 */
function messageChunks(message: IncomingMessage): ChunkSource {
  const waiting: Buffer[] = [];
  let bytes = 0;
  let cancelled = false;
  let wake = () => {};
  const onData = (chunk: Buffer) => {
    waiting.push(chunk);
    bytes += chunk.length;
    if (bytes >= MUCH_BYTES) message.pause();
    wake();
  };
  const onEnd = () => wake();
  message.on('data', onData);
  for (const name of ['end', 'error', 'close'] as const) message.on(name, onEnd);
  const take = () => {
    const [first] = waiting;
    const alone = first !== undefined && first.length >= FEW_BYTES;
    const taken = waiting.splice(0, alone ? 1 : waiting.length);
    const chunk = alone ? first : Buffer.concat(taken);
    bytes -= chunk.length;
    if (bytes < MUCH_BYTES && message.isPaused()) message.resume();
    return chunk;
  };
  return {
    now: () => (bytes >= FEW_BYTES ? take() : undefined),
    next: async () => {
      for (;;) {
        if (bytes > 0 && bytes < FEW_BYTES) await setImmediate();
        if (bytes > 0) return take();
        if (message.readableEnded || cancelled) return undefined;
        if (message.destroyed) throw message.errored ?? new Error('The connection has ended.');
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    },
    cancel: async () => {
      message.off('data', onData);
      message.pause();
      cancelled = true;
      wake();
    },
  };
}

/** Behind a server that is not ours. */
function streamChunks(body: ReadableStream<Uint8Array>): ChunkSource {
  const { next, cancel } = openStream(body);
  const count = new ChunkCount();
  return {
    next: async () => {
      const chunk = await next();
      if (chunk && count.add(chunk.length)) throw TINY_CHUNKS();
      return chunk;
    },
    cancel,
  };
}

/** Chunks as large as the stream can give them; Deno's bodies come in 64 KiB unless asked otherwise. */
function openStream(body: ReadableStream<Uint8Array>): ChunkSource {
  const large = byteReader(body);
  if (large) {
    let spare = new ArrayBuffer(CHUNK_BYTES);
    return {
      next: async () => {
        const { value } = await large.read(new Uint8Array(spare));
        if (!value || value.length === 0) return undefined;
        // Whoever keeps a few bytes must not keep a large buffer with them: a slow line sends thousands of such chunks.
        const few = value.length < CHUNK_BYTES / 2;
        spare = few ? value.buffer : new ArrayBuffer(CHUNK_BYTES);
        return few ? value.slice() : value;
      },
      cancel: () => large.cancel(),
    };
  }
  const reader = body.getReader();
  return {
    next: async () => (await reader.read()).value,
    cancel: () => reader.cancel(),
  };
}

/** Undefined for a stream that cannot fill a buffer of the reader's. */
function byteReader(body: ReadableStream<Uint8Array>): ReadableStreamBYOBReader | undefined {
  try {
    return body.getReader({ mode: 'byob' });
  } catch {
    return undefined;
  }
}
