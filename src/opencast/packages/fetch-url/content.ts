import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { patientTimer } from '#platform/process/timeout.ts';
import { URL_REFUSED, URL_TOO_LARGE } from './refusals.ts';

/** What a fetched file may have and take. Sizes in bytes, times in milliseconds. */
export interface ContentLimits {
  maxBytes: number;
  idleMs: number;
  signal?: AbortSignal | undefined;
}

/** However large a file is. */
const TOTAL_MS = 24 * 3_600_000;

/**
 * How long the body of an answer says it is, undefined where it comes in chunks.
 *
 * @throws {HttpError} 400 for one whose end nobody could tell from a cut, 413
 */
export function expectedBytesOf({ headers }: IncomingMessage, maxBytes: number): number | undefined {
  const encoding = headers['content-encoding']?.trim().toLowerCase() || 'identity';
  if (encoding !== 'identity') throw URL_REFUSED('its host packs the file on the way');
  const length = headers['content-length'];
  if (length === undefined || headers['transfer-encoding'] !== undefined) {
    if (/(^|,)\s*chunked\s*$/i.test(headers['transfer-encoding'] ?? '')) return undefined;
    throw URL_REFUSED('its host says neither how long the file is nor where it ends');
  }
  if (!/^\d{1,15}$/.test(length)) throw URL_REFUSED('its host gave no answer that can be read');
  if (Number(length) > maxBytes) throw URL_TOO_LARGE(maxBytes);
  return Number(length);
}

/** The body of an answer, read at the pace of who reads it. It fails with an `HttpError` when it is not whole. */
export function contentOf(
  answer: IncomingMessage,
  expected: number | undefined,
  { maxBytes, idleMs, signal }: ContentLimits,
): Readable {
  let received = 0;
  /** Stops the clock that runs while the host is waited for. */
  let stopIdle: (() => void) | undefined;
  const awaitMore = () => {
    stopIdle?.();
    stopIdle = patientTimer(idleMs, () =>
      stream.destroy(URL_REFUSED(`its host sent nothing for ${idleMs / 1000} seconds`)),
    );
  };
  const stream = new Readable({
    // Each chunk by itself: to join them would copy them.
    objectMode: true,
    highWaterMark: 4,
    read() {
      if (stopIdle) return;
      awaitMore();
      answer.resume();
    },
    destroy(error, done) {
      stopIdle?.();
      clearTimeout(total);
      signal?.removeEventListener('abort', onAbort);
      answer.destroy();
      done(error);
    },
  });
  // Who is to read it looks for a place to store it first; what fails meanwhile, the first read tells.
  stream.on('error', () => undefined);
  const onAbort = () => stream.destroy(signal?.reason);
  const total = setTimeout(() => stream.destroy(URL_REFUSED('it takes more than a day')), TOTAL_MS);
  signal?.addEventListener('abort', onAbort, { once: true });
  if (signal?.aborted) onAbort();
  answer.on('data', (chunk: Buffer) => {
    received += chunk.length;
    if (received > maxBytes) return stream.destroy(URL_TOO_LARGE(maxBytes));
    if (stream.push(chunk)) return awaitMore();
    // The time in which the reader is slow is not the host's.
    stopIdle?.();
    stopIdle = undefined;
    answer.pause();
  });
  const onEnd = () => {
    stopIdle?.();
    if (!answer.complete || (expected !== undefined && received !== expected)) stream.destroy(cut());
    else stream.push(null);
  };
  answer.once('end', onEnd);
  answer.on('error', () => stream.destroy(cut()));
  answer.once('close', () => {
    if (!answer.readableEnded) stream.destroy(cut());
  });
  answer.pause();
  return stream;
}

const cut = () => URL_REFUSED('its host ended the connection before the file was whole');
