import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import { text } from 'node:stream/consumers';
import type { Client } from './client.ts';

/** What came back for an upload. */
export interface UploadAnswer {
  status: number;
  headers: IncomingMessage['headers'];
  /** The names of the headers as they were written. */
  names: string[];
  body: string;
}

/** An upload whose body the test sends piece by piece, or does not. */
export class OpenUpload {
  readonly #request: ClientRequest;
  /** Rejects when the connection ends without an answer. */
  readonly answer: Promise<UploadAnswer>;
  /** Whether the server has asked for the body. */
  asked = false;

  /** Sends the head. Without a length the body is chunked. */
  constructor(
    client: Pick<Client, 'url' | 'authorization'>,
    {
      type,
      length,
      expect,
      method = 'POST',
      path = '/api/events',
      headers = {},
    }: {
      type: string;
      length?: number;
      expect?: '100-continue';
      method?: string;
      path?: string;
      headers?: Record<string, string>;
    },
  ) {
    this.#request = request(new URL(path, client.url), {
      method,
      agent: false,
      headers: {
        Authorization: client.authorization,
        'Content-Type': type,
        ...(length === undefined ? { 'Transfer-Encoding': 'chunked' } : { 'Content-Length': length }),
        ...(expect && { Expect: expect }),
        ...headers,
      },
    });
    this.#request.on('continue', () => {
      this.asked = true;
    });
    this.answer = new Promise((resolve, reject) => {
      this.#request.once('response', async (response: IncomingMessage) => {
        const body = await text(response).catch(() => '');
        const names = response.rawHeaders.filter((_, index) => index % 2 === 0);
        resolve({ status: response.statusCode ?? 0, headers: response.headers, names, body });
      });
      this.#request.on('error', reject);
      this.#request.once('close', () => reject(new Error('The connection ended without an answer.')));
    });
    this.answer.catch(() => undefined);
    this.#request.flushHeaders();
  }

  /** Resolves when the bytes are on their way, or can no longer be sent. */
  write(chunk: Uint8Array): Promise<void> {
    return new Promise((resolve) => this.#request.write(chunk, () => resolve()));
  }

  /** The body is complete. */
  end(): void {
    this.#request.end();
  }

  /** Breaks the connection. */
  cut(): void {
    this.#request.destroy();
  }
}
