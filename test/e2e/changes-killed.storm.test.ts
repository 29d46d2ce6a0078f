import { describe, expect, onTestFinished, test } from 'vitest';
import { numberChanges, readChanges } from '#changes/read-changes.ts';
import { Client } from '../support/client.ts';
import { recording } from '../support/clips.ts';
import { eventually } from '../support/eventually.ts';
import { eventFields, file } from '../support/form.ts';
import { startServerFor } from '../support/server.ts';
import { SseReader, type StreamMessage } from '../support/sse.ts';
import { WebhookReceiver } from '../support/webhook-receiver.ts';

const RECORDINGS = 4;
const KILLS = 6;

/** Follows everything and comes back whenever the server goes, as browsers do. */
class Follower {
  readonly messages: StreamMessage[] = [];
  #reader: SseReader | undefined;
  #last = 0;
  #ended = false;

  constructor(admin: Client) {
    void this.#follow(admin);
  }

  async end(): Promise<void> {
    this.#ended = true;
    this.#reader?.close();
  }

  async #follow(admin: Client): Promise<void> {
    while (!this.#ended) {
      try {
        const headers = { Accept: 'text/event-stream', 'Last-Event-ID': String(this.#last) };
        this.#reader = await SseReader.open((signal) => admin.fetch('/api/updates', { headers, signal }));
        await eventually(() => expect(this.#reader?.ended).toBe(true), 600_000, 20);
        this.messages.push(...this.#reader.messages);
        this.#last = this.#reader.lastId || this.#last;
      } catch {
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
    }
  }

  /** Up to now; what the open stream has brought as well. */
  get all(): StreamMessage[] {
    return [...this.messages, ...(this.#reader?.ended ? [] : (this.#reader?.messages ?? []))];
  }
}

// A kill breaks the streams of each runtime's own HTTP server.
describe.each(['deno', 'node'] as const)('on %s', (runtime) => {
  test('kills of API, relay and worker lose and double no change, no message of a stream and no webhook', async (context) => {
    const receiver = await WebhookReceiver.open();
    onTestFinished(() => receiver.close());
    // Now and then it does not answer well.
    let asked = 0;
    receiver.answer = (_, response) => {
      asked += 1;
      response.writeHead(asked % 7 === 0 ? 503 : 204).end();
    };
    const server = await startServerFor(context, {
      runtime,
      roles: ['api', 'worker'],
      env: { WEBHOOK_HOSTS: '127.0.0.1' },
    });
    const admin = new Client(server.url);
    const added = await admin.fetch('/api/webhooks', {
      method: 'POST',
      body: new URLSearchParams({ url: receiver.url, secret: receiver.secret }),
    });
    expect(added.status).toBe(201);
    const follower = new Follower(admin);
    onTestFinished(() => follower.end());
    const clip = await recording({ seconds: 2 });
    const ids: string[] = [];
    const upload = async () => ids.push(await admin.create([...eventFields(), file('presenter', 'lecture.mp4', clip)]));
    await upload();
    for (let i = 0; i < KILLS; i += 1) {
      await new Promise((resolve) => setTimeout(resolve, 300 + Math.random() * 1_500));
      const victim = server.process(i % 2 === 0 ? 'worker' : 'api');
      await victim.kill();
      victim.start();
      if (i % 2 === 1) await server.ready();
      if (ids.length < RECORDINGS) await eventually(upload, 30_000, 500);
    }
    await server.ready();
    for (const id of ids) expect((await admin.processed(id, 180_000)).processing_state).toBe('SUCCEEDED');

    await numberChanges(server.database);
    const log = await readChanges(server.database, 0, 100_000);
    expect(log.map(({ number }) => number)).toEqual(log.map((_, i) => i + 1));
    await eventually(() => expect(follower.all.length).toBeGreaterThanOrEqual(log.length), 30_000);
    expect(follower.all.map(({ id, kind }) => [id, kind])).toEqual(log.map(({ number, kind }) => [number, kind]));

    await eventually(
      async () => {
        const pending = await server.database
          .selectFrom('webhook_deliveries')
          .select('id')
          .where('state', '<>', 'delivered')
          .execute();
        // What failed is tried again after a pause that nobody waits for here.
        await server.database
          .updateTable('webhook_deliveries')
          .set({ next_at: new Date() })
          .where('state', '=', 'pending')
          .where('attempts', '>', 0)
          .execute();
        expect(pending).toEqual([]);
      },
      120_000,
      500,
    );
    const first = new Map(receiver.received.map((message) => [message.id, message]));
    expect(first.size).toBe(log.length);
    for (const id of ids) {
      const told = [
        ...new Map(
          receiver.received.filter(({ body }) => body.data.event === id).map((message) => [message.id, message]),
        ).values(),
      ];
      const facts = ({ type, data }: { type: string; data: Record<string, unknown> }) => [
        type,
        data.state,
        data.operation,
        data.operation_state,
        data.progress,
      ];
      expect(told.map(({ body }) => facts(body))).toEqual(
        log.filter(({ eventId }) => eventId === id).map(({ kind, data }) => facts({ type: kind, data })),
      );
    }
  }, 420_000);
});
