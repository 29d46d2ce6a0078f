import { refusal } from '../endpoint/refusal.ts';
import { HttpError } from '../errors.ts';

export const SILENT = refusal(
  408,
  (seconds: number) => `Nothing was received for ${seconds} seconds.`,
  [60],
  {
    Connection: 'close',
  },
);

/** The client closed the connection before its request had ended; there is nobody to answer. */
export class ClientGone extends Error {
  override name = 'ClientGone';
}

/** What is asked for at once: every chunk costs each stage of an upload the same, whatever its size. */
const CHUNK_BYTES = 256 * 1024;

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

  constructor(body: ReadableStream<Uint8Array>, idleMs: number) {
    this.#source = openChunks(body);
    this.#idleMs = idleMs;
  }

  /** The next chunk, or undefined at the end. */
  async read(): Promise<Uint8Array | undefined> {
    let timer: NodeJS.Timeout | undefined;
    const idle = new Promise<never>((_, reject) => {
      timer = setTimeout(() => {
        reject(SILENT(this.#idleMs / 1000));
      }, this.#idleMs);
    });
    try {
      return await Promise.race([this.#source.next(), idle]);
    } catch (error) {
      if (error instanceof HttpError) throw error;
      throw new ClientGone('The client closed the connection.', { cause: error });
    } finally {
      clearTimeout(timer);
    }
  }

  /** Reads no further. The rest of the body is dropped with the connection. */
  async cancel(): Promise<void> {
    await this.#source.cancel().catch(() => undefined);
  }
}

interface ChunkSource {
  next(): Promise<Uint8Array | undefined>;
  cancel(): Promise<void>;
}

/** Chunks as large as the stream can give them; Deno's bodies come in 64 KiB unless asked otherwise. */
function openChunks(body: ReadableStream<Uint8Array>): ChunkSource {
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
