import { sendRequest } from '#platform/outbound/ask.ts';
import { connect } from '#platform/outbound/connect.ts';
import { OutboundError, parseTarget } from '#platform/outbound/target.ts';
import type { NamedHost } from '#platform/setting/value-kinds.ts';
import { type Message, signedHeaders } from './message.ts';

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
