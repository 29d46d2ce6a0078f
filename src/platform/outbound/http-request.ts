import { type IncomingMessage, request } from 'node:http';
import type { Socket } from 'node:net';
import { Readable } from 'node:stream';
import { startTolerantTimer } from '../process/timeout.ts';
import { OutboundError, type Target } from './connect.ts';
import { silent } from './response-body.ts';

export interface AskOptions {
  method?: 'GET' | 'POST' | 'PUT';
  headers?: Readonly<Record<string, string>>;
  /** A stream needs a `Content-Length` in the headers. It is destroyed if the host responds early. */
  body?: Uint8Array | Readable | undefined;
  /** Longest time in which nothing is sent or received, in milliseconds. */
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
        ...(body instanceof Uint8Array && { 'Content-Length': String(body.byteLength) }),
        ...headers,
      },
    });
    const fail = (error: unknown) => {
      done();
      reject(error);
      socket.destroy();
    };
    const onAbort = () => fail(signal?.reason);
    const start = () => startTolerantTimer(idleMs, () => fail(silent(idleMs)));
    let cancel = start();
    const done = () => {
      cancel();
      if (body instanceof Readable) body.off('data', progress).unpipe(question).destroy();
      signal?.removeEventListener('abort', onAbort);
    };
    const progress = () => {
      cancel();
      cancel = start();
    };
    question.on('error', () => fail(new OutboundError('its host sent an unreadable response')));
    question.once('response', (answer) => {
      done();
      resolve(answer);
    });
    signal?.addEventListener('abort', onAbort, { once: true });
    if (signal?.aborted) onAbort();
    if (body instanceof Readable) body.on('error', fail).on('data', progress).pipe(question);
    else question.end(body);
  });
}
