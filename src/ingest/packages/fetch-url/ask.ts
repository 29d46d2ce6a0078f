import { type IncomingMessage, request } from 'node:http';
import type { Socket } from 'node:net';
import { URL_REFUSED } from './refusals.ts';
import type { Target } from './target.ts';

/** How the answer is awaited. */
export interface AskOptions {
  /** Without anything from the host, in milliseconds. */
  idleMs: number;
  signal?: AbortSignal | undefined;
}

/**
 * Asks for a file over a connection: without credentials, cookies or anything else of the client's request.
 *
 * @returns the head of the answer; its body has not been read
 * @throws {HttpError} 400 when there is none in time
 */
export function ask(
  target: Target,
  socket: Socket,
  { idleMs, signal }: AskOptions,
): Promise<IncomingMessage> {
  const { url, host, port, secure } = target;
  const usual = port === (secure ? 443 : 80);
  return new Promise((resolve, reject) => {
    const question = request({
      createConnection: () => socket,
      path: `${url.pathname}${url.search}`,
      headers: {
        Host: usual ? host : `${host}:${port}`,
        Accept: '*/*',
        'Accept-Encoding': 'identity',
        'User-Agent': 'Inlet',
        Connection: 'close',
      },
    });
    const fail = (error: unknown) => {
      done();
      reject(error);
      socket.destroy();
    };
    const onAbort = () => fail(signal?.reason);
    const timer = setTimeout(() => fail(silent(idleMs)), idleMs);
    const done = () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', onAbort);
    };
    question.on('error', () => fail(URL_REFUSED('its host gave no answer that can be read')));
    question.once('response', (answer) => {
      done();
      resolve(answer);
    });
    signal?.addEventListener('abort', onAbort, { once: true });
    if (signal?.aborted) onAbort();
    question.end();
  });
}

/** Nothing has come for too long. */
export const silent = (idleMs: number) => URL_REFUSED(`its host sent nothing for ${idleMs / 1000} seconds`);
