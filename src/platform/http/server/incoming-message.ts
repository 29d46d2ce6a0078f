import type { IncomingMessage } from 'node:http';

const messages = new WeakMap<Request, IncomingMessage>();

/** Remembers what a request came as, so that its body can be read without the detour over a web stream. */
export function rememberMessage(request: Request, message: IncomingMessage): void {
  messages.set(request, message);
}

/** What a request came as; undefined behind a server that is not ours. */
export function messageOf(request: Request): IncomingMessage | undefined {
  return messages.get(request);
}

/** How many chunks are looked at together. */
const RUN = 16_384;
/** What chunks must have on average, in bytes: the smallest frames of a speech codec, sent each by itself, have 13. */
const LEAST_BYTES = 8;

/** What is said of smaller ones. */
export const TINY_CHUNKS = 'The chunks of the request are too small.';

/** Counts the chunks of one body. A chunk costs what it costs whatever is in it, so some bodies are all cost. */
export class ChunkCount {
  #chunks = 0;
  #bytes = 0;

  /** @returns whether the last 16,384 chunks had fewer than 8 bytes on average, which no encoder or line brings about */
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

/**
 * Watches over the chunks of a message, whoever reads or drops them. (A body of a declared length has none: what comes
 * in small packets there is gathered by the system while the process is busy.)
 *
 * @param onTooSmall called once
 */
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
