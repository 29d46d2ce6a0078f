import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { startTolerantTimer } from '../process/timeout.ts';
import { OutboundError } from './connect.ts';

/** The body of a response is larger than allowed. */
export class BodyTooLarge extends OutboundError {
  override name = 'BodyTooLarge';
}

/** Limits for a response body. Sizes are in bytes, times in milliseconds. */
export interface BodyLimits {
  maxBytes: number;
  /** Longest silence of the host while the body is being read. */
  idleMs: number;
}

interface BodyOptions extends BodyLimits {
  /** Converts the errors of the stream. */
  toError?: (error: OutboundError) => Error;
}

export interface ResponseBody {
  /** Read it to its end or destroy it; it fails if the body is incomplete. */
  stream: Readable;
  /** Undefined for a body in chunks. */
  expectedBytes: number | undefined;
}

/** Limit for a body of any size. */
const TOTAL_MS = 24 * 3_600_000;

/**
 * Returns the body of a response as a stream with backpressure, and its length.
 *
 * @throws {OutboundError} for a compressed body, or one whose end looks like an interruption; {BodyTooLarge}
 */
export function responseBody(answer: IncomingMessage, options: BodyOptions): ResponseBody {
  try {
    const expectedBytes = expectedBytesOf(answer, options.maxBytes);
    return { stream: bodyStream(answer, expectedBytes, options), expectedBytes };
  } catch (error) {
    answer.destroy();
    throw error;
  }
}

/** Returns the length of a response, or undefined for a chunked one. @throws {OutboundError} */
function expectedBytesOf({ headers }: IncomingMessage, maxBytes: number): number | undefined {
  const encoding = headers['content-encoding']?.trim().toLowerCase() || 'identity';
  if (encoding !== 'identity') throw new OutboundError('its host compresses the file in transit');
  const length = headers['content-length'];
  if (length === undefined || headers['transfer-encoding'] !== undefined) {
    if (/(^|,)\s*chunked\s*$/i.test(headers['transfer-encoding'] ?? '')) return undefined;
    throw new OutboundError('its host sends neither a length nor chunks');
  }
  if (!/^\d{1,15}$/.test(length)) throw new OutboundError('its host sent an invalid length');
  if (Number(length) > maxBytes) throw tooLarge(maxBytes);
  return Number(length);
}

function bodyStream(
  answer: IncomingMessage,
  expected: number | undefined,
  { maxBytes, idleMs, toError = (error) => error }: BodyOptions,
): Readable {
  let received = 0;
  /** Stops the timer that runs while the host is sending. */
  let stopIdle: (() => void) | undefined;
  const fail = (error: OutboundError) => stream.destroy(toError(error));
  const awaitMore = () => {
    stopIdle?.();
    stopIdle = startTolerantTimer(idleMs, () => fail(silent(idleMs)));
  };
  const stream = new Readable({
    // Joining chunks would copy them.
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
      answer.destroy();
      done(error);
    },
  });
  // The reader first allocates space. An earlier fault is reported by the first read.
  stream.on('error', () => undefined);
  const total = setTimeout(() => fail(new OutboundError('the download takes more than a day')), TOTAL_MS);
  answer.on('data', (chunk: Buffer) => {
    received += chunk.length;
    if (received > maxBytes) return fail(tooLarge(maxBytes));
    if (stream.push(chunk)) return awaitMore();
    // Time that the reader takes does not count.
    stopIdle?.();
    stopIdle = undefined;
    answer.pause();
  });
  answer.once('end', () => {
    stopIdle?.();
    if (!answer.complete || (expected !== undefined && received !== expected)) fail(cut());
    else stream.push(null);
  });
  answer.on('error', () => fail(cut()));
  answer.once('close', () => {
    if (!answer.readableEnded) fail(cut());
  });
  answer.pause();
  return stream;
}

const cut = () => new OutboundError('its host closed the connection before the file was complete');
const tooLarge = (maxBytes: number) => new BodyTooLarge(`it is larger than ${maxBytes} bytes`);

/** Returns the error of a host that sends nothing. */
export const silent = (idleMs: number) => new OutboundError(`its host sent nothing for ${idleMs / 1000} seconds`);
