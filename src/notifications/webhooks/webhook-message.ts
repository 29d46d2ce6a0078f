import { randomBytes, randomUUID } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { type Change, changeJson } from '#changes/change.ts';
import { connect, OutboundError, parseTarget } from '#platform/outbound/connect.ts';
import { sendRequest } from '#platform/outbound/http-request.ts';
import type { NamedHost } from '#platform/setting/value-kinds.ts';

/** The kind of a test message, which is tried once. */
export const TEST_KIND = 'webhook.test';

const SECRET_BYTES = 32;
const PREFIX = 'whsec_';
const [LEAST_BYTES, MOST_BYTES] = [24, 64];

interface Message {
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
function signedHeaders({ id, body }: Omit<Message, 'kind'>, secret: string): Record<string, string> {
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

/** The limit from the name lookup to the end of the response. */
const TOTAL_MS = 15_000;
const ANSWER_BYTES = 16 * 1024;

export interface Outcome {
  status: number | null;
  /** The reason of a failure, as a sentence; null on success. */
  error: string | null;
}

/** Sends a message once; redirects are not followed. @param hosts the hosts that may have private addresses */
export async function sendMessage(
  { url, secret }: { url: string; secret: string },
  message: Omit<Message, 'kind'>,
  hosts: readonly NamedHost[],
): Promise<Outcome> {
  const signal = AbortSignal.timeout(TOTAL_MS);
  try {
    const target = parseTarget(url);
    const options = { hosts, variable: 'WEBHOOK_HOSTS', namedMayBePrivate: true, signal };
    const socket = await connect(target, options);
    const answer = await sendRequest(target, socket, {
      method: 'POST',
      headers: signedHeaders(message, secret),
      body: Buffer.from(message.body),
      idleMs: TOTAL_MS,
      signal,
    });
    // A destroyed response may emit an error.
    answer.on('error', () => undefined);
    let received = 0;
    const onAbort = () => answer.destroy();
    signal.addEventListener('abort', onAbort, { once: true });
    for await (const chunk of answer) {
      received += (chunk as Buffer).length;
      if (received > ANSWER_BYTES) break;
    }
    signal.removeEventListener('abort', onAbort);
    answer.destroy();
    socket.destroy();
    const status = answer.statusCode ?? 0;
    if (status >= 200 && status < 300) return { status, error: null };
    return { status, error: `The receiver responded with status ${status}.` };
  } catch (error) {
    if (signal.aborted)
      return { status: null, error: `The receiver did not respond within ${TOTAL_MS / 1000} seconds.` };
    const reason = error instanceof OutboundError ? error.message : 'the connection broke';
    return { status: null, error: `The address is not reachable: ${reason}.` };
  }
}
