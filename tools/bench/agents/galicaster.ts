import { setTimeout as sleep } from 'node:timers/promises';
import type { DigestClient } from './digest-client.ts';

const STATE_MS = 10_000;
const MINUTE_MS = 60_000;
const CONFIGURATION = `<?xml version="1.0" encoding="UTF-8"?><!DOCTYPE properties SYSTEM "http://java.sun.com/dtd/properties.dtd"><properties version="1.0">${Array.from(
  { length: 25 },
  (_, i) => `<entry key="capture.device.${i}.outputfile">/var/lib/galicaster/CAMERA-${i}.avi</entry>`,
).join('')}<entry key="capture.device.names">camera,screen</entry></properties>`;

/**
 * Does for a while what a Galicaster does that records nothing: its state every ten seconds, and every minute its
 * calendar, the series and its configuration.
 */
export class Galicaster {
  readonly #client: DigestClient;
  readonly #name: string;
  #reports = 0;
  #tag = '-1';

  constructor(client: DigestClient, name: string) {
    this.#client = client;
    this.#name = name;
  }

  /** What it has sent so far. */
  get load() {
    return { requests: this.#client.requests, reports: this.#reports };
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
    this.#reports += 1;
    await this.#client.ask('POST', `/capture-admin/agents/${this.#name}`, {
      form: { address: '10.0.0.1', state: 'idle' },
    });
  }

  async refresh(): Promise<void> {
    const headers = { 'If-None-Match': this.#tag };
    const calendar = await this.#client.ask('GET', `/recordings/calendars?agentid=${this.#name}`, {
      headers,
    });
    this.#tag = calendar.headers.etag ?? this.#tag;
    await this.#client.ask('GET', '/series/count');
    await this.#client.ask('GET', '/info/health');
    await this.#client.ask('GET', '/admin-ng/series/series.json?offset=0&limit=500');
    await this.#client.ask('POST', `/capture-admin/agents/${this.#name}/configuration`, {
      form: { configuration: CONFIGURATION },
    });
  }
}
