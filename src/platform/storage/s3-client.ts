import { S3Client } from '@aws-sdk/client-s3';
import { patientTimer } from '../process/timeout.ts';

const CONNECT_MS = 5_000;
/** From sending a request without a large body to the head of its answer. */
const ANSWER_MS = 30_000;
/** Concurrent uploads times their concurrent parts, and as many readers. */
const SOCKETS = 256;

/** The connections to one object storage. */
export interface S3Clients {
  client: S3Client;
  /**
   * Sends one attempt over a new connection, and waits as long as its caller: the result is true of the storage and not
   * of a connection.
   */
  probe: S3Client;
}

/**
 * Creates clients that take endpoint, region and credentials from the AWS SDK's standard environment variables. Every
 * request limits its waits for a connection and for an answer.
 */
export function createS3Clients(options: { forcePathStyle: boolean }): S3Clients {
  return {
    client: createClient(options, { attempts: 3, connectMs: CONNECT_MS, keepAlive: true }),
    probe: createClient(options, { attempts: 1, connectMs: undefined, keepAlive: false }),
  };
}

function createClient(
  { forcePathStyle }: { forcePathStyle: boolean },
  { attempts, connectMs, keepAlive }: { attempts: number; connectMs: number | undefined; keepAlive: boolean },
): S3Client {
  return new S3Client({
    forcePathStyle,
    // Stores other than AWS reject the checksums that the SDK would add to every request.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    maxAttempts: attempts,
    requestHandler: {
      connectionTimeout: connectMs,
      requestTimeout: ANSWER_MS,
      throwOnRequestTimeout: true,
      // A paused player reads nothing for minutes: a silent socket is not an error.
      socketTimeout: 0,
      httpAgent: { keepAlive, maxSockets: SOCKETS },
      httpsAgent: { keepAlive, maxSockets: SOCKETS },
    },
  });
}

/** The object storage accepts connections but does not answer. */
export class StorageSilent extends Error {
  override name = 'StorageSilent';
  constructor() {
    super('The object storage does not answer.');
  }
}

/** Limits after which the storage counts as silent, in milliseconds. */
export interface SilenceLimits {
  /** The time a request may take before the storage is probed. */
  patienceMs: number;
  /** The time the answer to a probe may take. */
  answerMs: number;
}

/**
 * Wraps a client so that all its requests fail once the storage is silent. The duration of a single request proves
 * little: a part may use a slow line, or the store may assemble a large object. So a small probe is sent while a
 * request takes long.
 *
 * @param ask settles when the storage answers, with any answer
 */
export function endingInSilence(
  client: S3Client,
  ask: (signal: AbortSignal) => Promise<unknown>,
  limits: SilenceLimits,
): S3Client {
  let asking: Promise<boolean> | undefined;
  const isSilent = () => {
    asking ??= askOnce(ask, limits.answerMs).finally(() => {
      asking = undefined;
    });
    return asking;
  };
  const send = async (command: Parameters<S3Client['send']>[0], options: { abortSignal?: AbortSignal } = {}) => {
    const stop = new AbortController();
    const { abortSignal } = options;
    const onAbort = () => stop.abort(abortSignal?.reason);
    if (abortSignal?.aborted) onAbort();
    abortSignal?.addEventListener('abort', onAbort, { once: true });
    let answered = false;
    const timer = setInterval(async () => {
      // Reading a body has its own limit.
      if ((await isSilent()) && !answered) stop.abort(new StorageSilent());
    }, limits.patienceMs);
    try {
      return await client.send(command, { ...options, abortSignal: stop.signal });
    } catch (error) {
      throw stop.signal.reason instanceof StorageSilent ? stop.signal.reason : error;
    } finally {
      answered = true;
      clearInterval(timer);
      abortSignal?.removeEventListener('abort', onAbort);
    }
  };
  return Object.create(client, { send: { value: send } });
}

async function askOnce(ask: (signal: AbortSignal) => Promise<unknown>, answerMs: number): Promise<boolean> {
  const limit = new AbortController();
  const cancel = patientTimer(answerMs, () => limit.abort());
  // Any other error is an answer, or ends the request by itself.
  await ask(limit.signal).catch(() => undefined);
  cancel();
  return limit.signal.aborted;
}
