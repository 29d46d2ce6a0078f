import { Agent } from 'node:http';
import { digestHeader } from '../../../test/support/digest.ts';
import type { Answer } from '../support/http-client.ts';
import { request } from './request.ts';

/** What is asked for; a form is sent urlencoded. */
interface Asked {
  headers?: Record<string, string>;
  form?: Record<string, string>;
}

/** Who asks, and whether a nonce serves for more than one request. */
export interface DigestAccount {
  url: string;
  username: string;
  password: string;
  /** As python-requests does within a session; libcurl does not across handles, and asks for a challenge each time. */
  keepsNonce: boolean;
}

/** Asks with Digest, each time over a connection of its own. */
export class DigestClient {
  readonly #account: DigestAccount;
  /** Requests sent, those that got a challenge included. */
  requests = 0;
  #nonce: string | undefined;
  #uses = 0;

  constructor(account: DigestAccount) {
    this.#account = account;
  }

  /** @throws Error when the answer is neither 200 nor 304 */
  async ask(method: string, path: string, asked: Asked = {}): Promise<Answer> {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    try {
      return await this.#askOver(agent, method, path, asked);
    } finally {
      agent.destroy();
    }
  }

  async #askOver(agent: Agent, method: string, path: string, { headers, form }: Asked): Promise<Answer> {
    const send = (authorization: Record<string, string>, body: string | undefined) => {
      this.requests += 1;
      const own = { ...headers, 'X-Requested-Auth': 'Digest', ...authorization };
      return request(this.#account.url + path, { method, headers: own, agent, body });
    };
    if (this.#nonce === undefined) {
      const challenged = await send({}, form && '');
      // Anybody may know some of it.
      if (challenged.status === 200) return challenged;
      this.#nonce = /\bnonce="([^"]+)"/.exec(challenged.headers['www-authenticate'] ?? '')?.[1] ?? '';
      this.#uses = 0;
    }
    const authorization = this.#sign(this.#nonce, method, path);
    if (!this.#account.keepsNonce) this.#nonce = undefined;
    const answer = await send({ Authorization: authorization }, form && new URLSearchParams(form).toString());
    if (![200, 304].includes(answer.status)) {
      throw new Error(`${method} ${path} answered ${answer.status}: ${answer.body}`);
    }
    return answer;
  }

  #sign(nonce: string, method: string, uri: string): string {
    const { username, password } = this.#account;
    this.#uses += 1;
    const nc = this.#uses.toString(16).padStart(8, '0');
    return digestHeader({ username, password, nonce, method, uri, nc });
  }
}
