import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { Webhook } from 'standardwebhooks';

/** A message as it came. */
export interface Received {
  id: string;
  headers: IncomingMessage['headers'];
  body: { type: string; timestamp: string; data: Record<string, unknown> };
}

/** Somebody who is told of changes, and verifies who tells them. */
export class WebhookReceiver {
  readonly received: Received[] = [];
  /** What is answered; 204 unless told otherwise. */
  answer: (message: Received, response: ServerResponse) => void | Promise<void> = (_, response) => {
    response.writeHead(204).end();
  };
  readonly secret = `whsec_${Buffer.from('a secret of thirty-two bytes....').toString('base64')}`;
  readonly #server = createServer((request, response) => void this.#take(request, response));

  static async open(): Promise<WebhookReceiver> {
    const receiver = new WebhookReceiver();
    await new Promise<void>((resolve) => receiver.#server.listen(0, '127.0.0.1', resolve));
    return receiver;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/hook`;
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
