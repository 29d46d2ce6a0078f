import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { Webhook } from 'standardwebhooks';
import { afterEach, beforeEach, expect } from 'vitest';
import { recordChanges } from '#changes/record-changes.ts';
import type { NamedHost } from '#platform/setting/value-kinds.ts';
import { silentLogger } from '#platform/telemetry/log.ts';
import { startWebhooks } from '#workers/webhook-sender.ts';
import type { TestApp } from './app.ts';
import { listen } from './listen.ts';
import { send } from './series.ts';

/** A message as it came. */
export interface Received {
  id: string;
  headers: IncomingMessage['headers'];
  body: { type: string; timestamp: string; data: Record<string, unknown> };
}

/** Somebody who is told of changes, and verifies who tells them. */
export class WebhookReceiver {
  readonly received: Received[] = [];
  url = '';
  /** What is answered; 204 unless told otherwise. */
  answer: (message: Received, response: ServerResponse) => void | Promise<void> = (_, response) => {
    response.writeHead(204).end();
  };
  readonly secret = `whsec_${Buffer.from('a secret of thirty-two bytes....').toString('base64')}`;
  readonly #server = createServer((request, response) => void this.#take(request, response));

  static async open(): Promise<WebhookReceiver> {
    const receiver = new WebhookReceiver();
    receiver.url = `${await listen(receiver.#server)}/hook`;
    return receiver;
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }

  async #take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const payload = (await buffer(request)).toString();
    const { headers } = request;
    const body = new Webhook(this.secret).verify(payload, headers as Record<string, string>);
    const message = { id: String(headers['webhook-id']), headers, body } as Received;
    this.received.push(message);
    await this.answer(message, response);
  }
}

/** A receiver for each test, and what tests do with webhooks of an application; they go with their test. */
export function webhooksOf(app: TestApp) {
  const { database } = app;
  let receiver: WebhookReceiver;
  let part: ReturnType<typeof startWebhooks> | undefined;
  const stop = async () => {
    await part?.close();
    part = undefined;
  };
  beforeEach(async () => {
    receiver = await WebhookReceiver.open();
  });
  afterEach(async () => {
    receiver.close();
    await stop();
    await database.deleteFrom('webhooks').execute();
  });
  return {
    get receiver() {
      return receiver;
    },
    /** Begins to deliver; these hosts may have private addresses. */
    start: (hosts: NamedHost[] = [{ host: '127.0.0.1', port: Number(new URL(receiver.url).port) }]) => {
      part = startWebhooks({ notifications: app.context.notifications, database, hosts, log: silentLogger });
    },
    stop,
    add: async (fields: Record<string, string> = {}) => {
      const { url, secret } = receiver;
      const answer = await send(app, 'POST', '/api/webhooks', { url, secret, ...fields });
      expect(answer.status, answer.text).toBe(201);
      return JSON.parse(answer.text).identifier as number;
    },
    /** Writes changes of events to the log. */
    change: (...changes: [event: string, n: number][]) =>
      database.transaction().execute((trx) =>
        recordChanges(
          trx,
          changes.map(([eventId, n]) => ({ kind: 'event.changed', eventId, actor: 'ada', data: { n } })),
        ),
      ),
    deliveries: (id: number) =>
      database.selectFrom('webhook_deliveries').selectAll().where('webhook_id', '=', id).orderBy('id').execute(),
  };
}
