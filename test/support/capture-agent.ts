import { expect } from 'vitest';
import { userCommand } from './accounts.ts';
import { digestHeader, nonceOf } from './digest.ts';
import { form, type Part } from './form.ts';
import type { TestServer } from './server.ts';

const PASSWORD = 'Geheim: ü';

/** Over the wire, as agents sign in: Basic at once, or Digest after a challenge, with a nonce that is used again. */
export class CaptureAgent {
  readonly #url: string;
  readonly #username: string;
  readonly #isDigest: boolean;
  #nonce: string | undefined;
  #count = 0;

  private constructor(url: string, username: string, isDigest: boolean) {
    this.#url = url;
    this.#username = username;
    this.#isDigest = isDigest;
  }

  /** Makes the account as an operator does. */
  static async create(server: TestServer, username: string, scheme: 'basic' | 'digest', ...more: string[]) {
    await userCommand(server.databaseUrl, ['add', username, '--agent', ...more], PASSWORD);
    return new CaptureAgent(server.url, username, scheme === 'digest');
  }

  async send(method: string, path: string, init: RequestInit = {}): Promise<Response> {
    const request = async (authorization?: string, body: BodyInit | null = init.body ?? null) => {
      const headers = new Headers(init.headers);
      if (authorization) headers.set('Authorization', authorization);
      return fetch(new URL(path, this.#url), { ...init, method, headers, body, redirect: 'manual' });
    };
    if (!this.#isDigest) {
      const credentials = Buffer.from(`${this.#username}:${PASSWORD}`).toString('base64');
      return request(`Basic ${credentials}`);
    }
    if (!this.#nonce) {
      // As curl does: without a body first.
      const first = await request(undefined, method === 'POST' ? '' : null);
      if (first.status !== 401) return first;
      this.#nonce = nonceOf(first);
    }
    this.#count += 1;
    const nc = this.#count.toString(16).padStart(8, '0');
    const { pathname, search } = new URL(path, this.#url);
    const answer = { username: this.#username, password: PASSWORD, nonce: this.#nonce, method, nc };
    return request(digestHeader({ ...answer, uri: pathname + search }));
  }

  /** The text of an answer that has to be 2xx. */
  async text(method: string, path: string, init?: RequestInit): Promise<string> {
    const answer = await this.send(method, path, init);
    const text = await answer.text();
    expect(answer.status, `${method} ${path}: ${text}`).toBeLessThan(300);
    return text;
  }

  async multipart(path: string, parts: readonly Part[]): Promise<string> {
    const { type, body } = form(parts);
    return this.text('POST', path, { headers: { 'Content-Type': type }, body });
  }

  async urlencoded(path: string, fields: Record<string, string>): Promise<string> {
    return this.text('POST', path, { body: new URLSearchParams(fields) });
  }
}
