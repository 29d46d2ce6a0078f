import { Agent } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { digestHeader } from '../../support/digest.ts';
import { request } from './request.ts';

const STATE_MS = 10_000;
const MINUTE_MS = 60_000;
const CONFIGURATION = `<?xml version="1.0" encoding="UTF-8"?><!DOCTYPE properties SYSTEM "http://java.sun.com/dtd/properties.dtd"><properties version="1.0">${Array.from(
  { length: 25 },
  (_, i) => `<entry key="capture.device.${i}.outputfile">/var/lib/galicaster/CAMERA-${i}.avi</entry>`,
).join('')}<entry key="capture.device.names">camera,screen</entry></properties>`;

/** How many requests, and what for. */
export interface Load {
  requests: number;
  reports: number;
}

/**
 * Does for a while what a Galicaster does that records nothing: its state every ten seconds, and every minute its
 * calendar, the series and its configuration. It signs in anew for each, over a connection of its own, as libcurl does:
 * every request is two.
 */
export class Galicaster {
  readonly #url: string;
  readonly #name: string;
  readonly #password: string;
  readonly load: Load = { requests: 0, reports: 0 };
  #tag = '-1';

  constructor(url: string, name: string, password: string) {
    this.#url = url;
    this.#name = name;
    this.#password = password;
  }

  /**
   * Works from one point in time to another, both by `performance.now()`.
   *
   * @param phase between 0 and 1: when in its ten seconds, and in its minute, it begins
   */
  async run(phase: number, start: number, end: number): Promise<void> {
    const each = async (everyMs: number, work: () => Promise<void>) => {
      for (let at = start + phase * everyMs; at < end; at += everyMs) {
        await sleep(Math.max(0, at - performance.now()));
        await work();
      }
    };
    await Promise.all([each(STATE_MS, () => this.report()), each(MINUTE_MS, () => this.refresh())]);
  }

  async report(): Promise<void> {
    this.load.reports += 1;
    await this.#ask('POST', `/capture-admin/agents/${this.#name}`, {
      form: { address: '10.0.0.1', state: 'idle' },
    });
  }

  async refresh(): Promise<void> {
    const headers = { 'If-None-Match': this.#tag };
    const calendar = await this.#ask('GET', `/recordings/calendars?agentid=${this.#name}`, { headers });
    this.#tag = calendar.headers.etag ?? this.#tag;
    await this.#ask('GET', '/series/count');
    await this.#ask('GET', '/info/health');
    await this.#ask('GET', '/admin-ng/series/series.json?offset=0&limit=500');
    await this.#ask('POST', `/capture-admin/agents/${this.#name}/configuration`, {
      form: { configuration: CONFIGURATION },
    });
  }

  async #ask(
    method: string,
    path: string,
    { headers = {}, form }: { headers?: Record<string, string>; form?: Record<string, string> } = {},
  ) {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const own = { ...headers, 'X-Requested-Auth': 'Digest' };
    try {
      this.load.requests += 1;
      const asked = await request(this.#url + path, { method, headers: own, agent, body: form && '' });
      // Anybody may know some of it.
      if (asked.status === 200) return asked;
      this.load.requests += 1;
      const nonce = /\bnonce="([^"]+)"/.exec(asked.headers['www-authenticate'] ?? '')?.[1] ?? '';
      const signed = { username: this.#name, password: this.#password, nonce, method, uri: path };
      const answer = await request(this.#url + path, {
        method,
        headers: { ...own, Authorization: digestHeader({ ...signed, nc: '00000001' }) },
        agent,
        body: form && new URLSearchParams(form).toString(),
      });
      if (![200, 304].includes(answer.status)) {
        throw new Error(`${method} ${path} answered ${answer.status}: ${answer.body}`);
      }
      return answer;
    } finally {
      agent.destroy();
    }
  }
}
