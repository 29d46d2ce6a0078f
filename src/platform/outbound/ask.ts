import { type IncomingMessage, request } from 'node:http';
import type { Socket } from 'node:net';
import { patientTimer } from '../process/timeout.ts';
import { OutboundFault, type Target } from './target.ts';

/** What is asked, and how the answer is awaited. */
export interface AskOptions {
  /** `GET` unless given. */
  method?: 'GET' | 'POST';
  /** Beside the usual ones. */
  headers?: Readonly<Record<string, string>>;
  /** What is sent along. */
  body?: Uint8Array;
  /** Without anything from the host, in milliseconds. */
  idleMs: number;
  signal?: AbortSignal | undefined;
}

/**
 * Asks something over a connection: without credentials, cookies or anything else of a client's request.
 *
 * @returns the head of the answer; its body has not been read
 * @throws {OutboundFault} when there is none in time
 */
export function ask(
  target: Target,
  socket: Socket,
  { method = 'GET', headers, body, idleMs, signal }: AskOptions,
): Promise<IncomingMessage> {
  const { url, host, port, secure } = target;
  const usual = port === (secure ? 443 : 80);
  return new Promise((resolve, reject) => {
    const question = request({
      createConnection: () => socket,
      method,
      path: `${url.pathname}${url.search}`,
      headers: {
        Host: usual ? host : `${host}:${port}`,
        Accept: '*/*',
        'Accept-Encoding': 'identity',
        'User-Agent': 'Inlet',
        Connection: 'close',
        ...(body && { 'Content-Length': String(body.byteLength) }),
        ...headers,
      },
    });
    const fail = (error: unknown) => {
      done();
      reject(error);
      socket.destroy();
    };
    const onAbort = () => fail(signal?.reason);
    const cancel = patientTimer(idleMs, () => fail(silent(idleMs)));
    const done = () => {
      cancel();
      signal?.removeEventListener('abort', onAbort);
    };
    question.on('error', () => fail(new OutboundFault('its host gave no answer that can be read')));
    question.once('response', (answer) => {
      done();
      resolve(answer);
    });
    signal?.addEventListener('abort', onAbort, { once: true });
    if (signal?.aborted) onAbort();
    question.end(body);
  });
}

/** Nothing has come for too long. */
const silent = (idleMs: number) => new OutboundFault(`its host sent nothing for ${idleMs / 1000} seconds`);
