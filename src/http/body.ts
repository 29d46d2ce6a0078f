import { HttpError } from './errors.ts';

/** The client closed the connection before its request had ended; there is nobody to answer. */
export class ClientGone extends Error {
  override name = 'ClientGone';
}

/**
 * Reads a request body chunk by chunk. Only the time spent waiting for the client counts towards the idle limit, not
 * the time in which the server itself is slow.
 *
 * @throws {HttpError} 408 when the client sends nothing for `idleMs`
 * @throws {ClientGone} when the connection breaks
 */
export class BodyReader {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  readonly #idleMs: number;

  constructor(body: ReadableStream<Uint8Array>, idleMs: number) {
    this.#reader = body.getReader();
    this.#idleMs = idleMs;
  }

  /** The next chunk, or undefined at the end. */
  async read(): Promise<Uint8Array | undefined> {
    let timer: NodeJS.Timeout | undefined;
    const idle = new Promise<never>((_, reject) => {
      timer = setTimeout(() => {
        reject(
          new HttpError(408, `Nothing was received for ${this.#idleMs / 1000} seconds.`, {
            Connection: 'close',
          }),
        );
      }, this.#idleMs);
    });
    try {
      const { done, value } = await Promise.race([this.#reader.read(), idle]);
      return done ? undefined : value;
    } catch (error) {
      if (error instanceof HttpError) throw error;
      throw new ClientGone('The client closed the connection.', { cause: error });
    } finally {
      clearTimeout(timer);
    }
  }

  /** Reads no further. The rest of the body is dropped with the connection. */
  async cancel(): Promise<void> {
    await this.#reader.cancel().catch(() => undefined);
  }
}
