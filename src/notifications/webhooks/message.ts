import { randomBytes, randomUUID } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { type Change, changeJson } from '#changes/change.ts';

/** The kind of a test message, which is tried once. */
export const TEST_KIND = 'webhook.test';

const SECRET_BYTES = 32;
const PREFIX = 'whsec_';
const [LEAST_BYTES, MOST_BYTES] = [24, 64];

export interface Message {
  id: string;
  kind: string;
  body: string;
}

/** Returns the message of a change for a webhook; the identifier is always the same for both. */
export function messageOf(webhookId: number, change: Change): Message {
  const { at, ...data } = changeJson(change);
  const facts = { ...data, ...(change.actor !== '' && { by: change.actor }) };
  return {
    id: `msg_${webhookId}_${change.number}`,
    kind: change.kind,
    body: JSON.stringify({ type: change.kind, timestamp: at, data: facts }),
  };
}

export function testMessage(webhookId: number): Message {
  const body = JSON.stringify({ type: TEST_KIND, timestamp: new Date().toISOString(), data: { webhook: webhookId } });
  return { id: `msg_${webhookId}_test_${randomUUID()}`, kind: TEST_KIND, body };
}

/** Returns the headers that authenticate a message. @param secret `whsec_` and base64 */
export function signedHeaders({ id, body }: Omit<Message, 'kind'>, secret: string): Record<string, string> {
  const now = new Date();
  return {
    'Content-Type': 'application/json',
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(now.getTime() / 1000)),
    'webhook-signature': new Webhook(secret).sign(id, now, body),
  };
}

export function newSecret(): string {
  return PREFIX + randomBytes(SECRET_BYTES).toString('base64');
}

/** True for a valid secret: `whsec_` and 24 to 64 bytes in base64. */
export function isSecret(text: string): boolean {
  const base64 = text.slice(PREFIX.length);
  if (!text.startsWith(PREFIX) || !/^[A-Za-z0-9+/]+={0,2}$/.test(base64)) return false;
  const bytes = Buffer.from(base64, 'base64');
  return (
    bytes.length >= LEAST_BYTES &&
    bytes.length <= MOST_BYTES &&
    bytes.toString('base64').replace(/=+$/, '') === base64.replace(/=+$/, '')
  );
}
