import type { IncomingMessage } from 'node:http';
import { setImmediate } from 'node:timers/promises';
import { startTolerantTimer } from '../../process/timeout.ts';
import { HttpError, refusal } from '../errors/errors.ts';
import { ChunkCount, messageOf, TINY_CHUNKS as TINY_CHUNKS_SENTENCE } from '../server/incoming-message.ts';

export const CLIENT_IDLE = refusal(408, (seconds: number) => `Nothing was received for ${seconds} seconds.`, [60], {
  Connection: 'close',
});
const TINY_CHUNKS = refusal(400, TINY_CHUNKS_SENTENCE, [], { Connection: 'close' });

/** The client closed the connection before its request was complete. */
export class ClientDisconnected extends Error {
  override name = 'ClientDisconnected';
}

/** Unread bytes that pause the client. */
const MUCH_BYTES = 256 * 1024;

/** Fewer bytes wait one turn for more; a network packet may hold thousands of chunks. */
const FEW_BYTES = 16 * 1024;

/**
 * Reads a request body chunk by chunk. Only time spent waiting for the client counts towards the idle limit.
 *
 * @throws {HttpError} 408 when the client sends nothing for `idleMs`
 * @throws {ClientDisconnected} when the connection breaks
 */
export class BodyReader {
  readonly #source: ChunkSource;
  readonly #idleMs: number;

  constructor(request: Request, idleMs: number) {
    this.#source = openChunks(request);
    this.#idleMs = idleMs;
  }

  async read(): Promise<Uint8Array | undefined> {
    try {
      return this.#source.now?.() ?? (await this.#next());
    } catch (error) {
      if (error instanceof HttpError) throw error;
      throw new ClientDisconnected('The client closed the connection.', { cause: error });
    }
  }

  #next(): Promise<Uint8Array | undefined> {
    return new Promise((resolve, reject) => {
      const cancel = startTolerantTimer(this.#idleMs, () => reject(CLIENT_IDLE(this.#idleMs / 1000)));
      this.#source.next().then(resolve, reject).finally(cancel);
    });
  }

  /** Stops reading. The rest of the body is dropped with the connection. */
  async cancel(): Promise<void> {
    await this.#source.cancel().catch(() => undefined);
  }
}

/** Returns true if a request has a body. Deno's server creates one for every POST, possibly empty. */
export function hasBody(request: Request): boolean {
  const message = messageOf(request);
  if (!message) return request.body !== null && request.headers.get('Content-Length') !== '0';
  return message.headers['transfer-encoding'] !== undefined || Number(message.headers['content-length']) > 0;
}

/** Returns true if the whole body has arrived; with another server, if reading has started. */
export function isBodyComplete(request: Request): boolean {
  return messageOf(request)?.complete ?? request.bodyUsed;
}

interface ChunkSource {
  /** Returns bytes that have already arrived, if enough. */
  now?(): Uint8Array | undefined;
  next(): Promise<Uint8Array | undefined>;
  cancel(): Promise<void>;
}

function openChunks(request: Request): ChunkSource {
  const message = messageOf(request);
  if (message) return messageChunks(message);
  return request.body ? streamChunks(request.body) : { next: async () => undefined, cancel: async () => undefined };
}

/** Passes on large chunks without copying and joins small ones, however a client splits its data. */
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
        if (message.destroyed) throw message.errored ?? new Error('The connection was closed.');
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

/** Reads from a server other than ours. */
function streamChunks(body: ReadableStream<Uint8Array>): ChunkSource {
  const reader = body.getReader();
  const count = new ChunkCount();
  return {
    next: async () => {
      const { value } = await reader.read();
      if (value && count.add(value.length)) throw TINY_CHUNKS();
      return value;
    },
    cancel: () => reader.cancel(),
  };
}
