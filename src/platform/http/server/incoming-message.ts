import type { IncomingMessage } from 'node:http';

const messages = new WeakMap<Request, IncomingMessage>();

/** Links a request to its message, so that its body is read without a web stream. */
export function rememberMessage(request: Request, message: IncomingMessage): void {
  messages.set(request, message);
}

/** Returns the message of a request; undefined with a server other than ours. */
export function messageOf(request: Request): IncomingMessage | undefined {
  return messages.get(request);
}

/** A longer body is not received only to be dropped. */
const WORTH_READING_BYTES = 64 * 1024;

/** Returns true if a body is not worth reading to its end, by the headers of its request. */
export function isLong(header: (name: string) => string | undefined | null): boolean {
  return header('transfer-encoding') != null || Number(header('content-length')) > WORTH_READING_BYTES;
}

/** Chunks counted together. */
const RUN = 16_384;
/** Lowest average size of chunks in bytes; single frames of speech codecs have 13. */
const LEAST_BYTES = 8;

export const TINY_CHUNKS = 'The chunks of the request are too small.';

/** Counts the chunks of a body: each has a fixed cost, so a body of tiny chunks is all cost. */
export class ChunkCount {
  #chunks = 0;
  #bytes = 0;

  /** Returns true if the last 16,384 chunks had fewer than 8 bytes on average, which no encoder or network causes. */
  add(bytes: number): boolean {
    this.#chunks += 1;
    this.#bytes += bytes;
    if (this.#chunks < RUN) return false;
    const small = this.#bytes < RUN * LEAST_BYTES;
    this.#chunks = 0;
    this.#bytes = 0;
    return small;
  }
}

/** Watches the chunks of a message, whether read or dropped. Bodies with a declared length have none. */
export function watchChunks(message: IncomingMessage, onTooSmall: () => void): void {
  if (message.headers['transfer-encoding'] === undefined) return;
  const count = new ChunkCount();
  const push = message.push;
  message.push = (chunk: Uint8Array | null, encoding) => {
    if (chunk && count.add(chunk.length)) {
      message.push = push;
      onTooSmall();
    }
    return push.call(message, chunk, encoding);
  };
}
