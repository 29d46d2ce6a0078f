import { setTimeout as pause } from 'node:timers/promises';
import { Client } from '../../../test/support/client.ts';
import { recording } from '../../../test/support/clips.ts';
import { eventFields, file, form } from '../../../test/support/form.ts';
import { Waits } from './waits.ts';

const BETWEEN_READS_MS = 150;
const BETWEEN_UPLOADS_MS = 2_000;
const PATIENCE_MS = 120_000;

/** Clients that read and upload without a pause, at all the APIs that are told to them. */
export class Clients {
  readonly reads = new Waits();
  readonly uploads = new Waits();
  /** Answers that are none, and those but success. */
  readonly failures: string[] = [];
  /** Of the events that were made. */
  readonly ids: string[] = [];
  /** Where they ask; to be changed as processes come and go. */
  urls: readonly string[] = [];
  #turn = 0;

  async run(signal: AbortSignal): Promise<void> {
    const content = await recording();
    await Promise.all([this.#read(signal), this.#upload(signal, content)]);
  }

  async #read(signal: AbortSignal): Promise<void> {
    for (let i = 0; !signal.aborted; i += 1) {
      const last = this.ids.at(-1);
      const paths = [
        '/api/events?limit=20&sort=date:DESC',
        '/api/events?limit=20&filter=status:EVENTS.EVENTS.STATUS.PROCESSED',
        last ? `/api/events/${last}` : '/api/info/me',
      ];
      const path = paths[i % paths.length] ?? '';
      await this.#ask(this.reads, path, (client, limit) => client(path, { signal: limit }));
      await pause(BETWEEN_READS_MS);
    }
  }

  async #upload(signal: AbortSignal, content: Buffer): Promise<void> {
    for (let i = 1; !signal.aborted; i += 1) {
      const { type, body } = form([...eventFields({ title: `Upgrade ${i}` }), file('presenter', 'a.mp4', content)]);
      const text = await this.#ask(this.uploads, 'POST /api/events', (client, limit) =>
        client('/api/events', { method: 'POST', headers: { 'Content-Type': type }, body, signal: limit }),
      );
      if (text) this.ids.push((JSON.parse(text) as { identifier: string }).identifier);
      await pause(BETWEEN_UPLOADS_MS);
    }
  }

  /** @returns the text of a success */
  async #ask(
    waits: Waits,
    what: string,
    send: (client: (path: string, init: RequestInit) => Promise<Response>, limit: AbortSignal) => Promise<Response>,
  ): Promise<string | undefined> {
    const url = this.urls[this.#turn++ % this.urls.length] ?? '';
    const { authorization } = new Client(url);
    const client = (path: string, init: RequestInit) =>
      fetch(new URL(path, url), { ...init, headers: { ...init.headers, Authorization: authorization } });
    try {
      return await waits.time(async () => {
        const answer = await send(client, AbortSignal.timeout(PATIENCE_MS));
        const text = await answer.text();
        if (!answer.ok) throw new Error(`${answer.status} ${text.slice(0, 200)}`);
        return text;
      });
    } catch (error) {
      this.failures.push(`${what} at ${url}: ${error instanceof Error ? error.message : error}`);
      return undefined;
    }
  }
}
