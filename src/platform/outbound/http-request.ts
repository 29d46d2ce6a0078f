import { type IncomingMessage, request } from 'node:http';
import type { Socket } from 'node:net';
import { startTolerantTimer } from '../process/timeout.ts';
import { OutboundError, type Target } from './connect.ts';
import { silent } from './response-body.ts';

export interface AskOptions {
  method?: 'GET' | 'POST';
  headers?: Readonly<Record<string, string>>;
  body?: Uint8Array;
  /** Longest silence of the host, in milliseconds. */
  idleMs: number;
  signal?: AbortSignal | undefined;
}

/** Sends a request without credentials, cookies or headers of clients. @throws {OutboundError} */
export function sendRequest(
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
    const cancel = startTolerantTimer(idleMs, () => fail(silent(idleMs)));
    const done = () => {
      cancel();
      signal?.removeEventListener('abort', onAbort);
    };
    question.on('error', () => fail(new OutboundError('its host sent an unreadable response')));
    question.once('response', (answer) => {
      done();
      resolve(answer);
    });
    signal?.addEventListener('abort', onAbort, { once: true });
    if (signal?.aborted) onAbort();
    question.end(body);
  });
}
