import { S3Client } from '@aws-sdk/client-s3';
import { startTolerantTimer } from '../process/timeout.ts';

const CONNECT_MS = 5_000;
/** From sending a request without a large body to the head of its answer. */
const ANSWER_MS = 30_000;
/** Concurrent uploads times their concurrent parts, and as many readers. */
const SOCKETS = 256;

export type S3Clients = ReturnType<typeof createS3Clients>;

/** Creates clients that read the AWS SDK's standard variables. Every wait for a connection or an answer is limited. */
export function createS3Clients({ forcePathStyle }: { forcePathStyle: boolean }) {
  const create = (maxAttempts: number, connectionTimeout: number | undefined, keepAlive: boolean) =>
    new S3Client({
      forcePathStyle,
      // Stores other than AWS reject the checksums that the SDK would add to every request.
      requestChecksumCalculation: 'WHEN_REQUIRED',
      responseChecksumValidation: 'WHEN_REQUIRED',
      maxAttempts,
      requestHandler: {
        connectionTimeout,
        requestTimeout: ANSWER_MS,
        throwOnRequestTimeout: true,
        // A paused player reads nothing for minutes: a silent socket is not an error.
        socketTimeout: 0,
        httpAgent: { keepAlive, maxSockets: SOCKETS },
        httpsAgent: { keepAlive, maxSockets: SOCKETS },
      },
    });
  // The probe sends one attempt over a new connection: its result does not depend on an earlier connection.
  return { client: create(3, CONNECT_MS, true), probe: create(1, undefined, false) };
}

/** The object storage accepts connections but does not answer. */
export class StorageSilent extends Error {
  override name = 'StorageSilent';
}

interface SilenceLimits {
  /** The time a request may take before the storage is probed. */
  patienceMs: number;
  /** The time the answer to a probe may take. */
  answerMs: number;
}

/**
 * Wraps a client so that all its requests fail once the storage is silent. A slow request proves little: a part may use
 * a slow line, or the store may assemble a large object. So a small probe, `ask`, is sent while a request takes long.
 */
export function failWhenSilent(
  client: S3Client,
  ask: (signal: AbortSignal) => Promise<unknown>,
  limits: SilenceLimits,
): S3Client {
  let asking: Promise<boolean> | undefined;
  const isSilent = () => {
    asking ??= isProbeSilent(ask, limits.answerMs).finally(() => {
      asking = undefined;
    });
    return asking;
  };
  const send = async (command: Parameters<S3Client['send']>[0], options: { abortSignal?: AbortSignal } = {}) => {
    const silent = new AbortController();
    const { abortSignal } = options;
    let answered = false;
    const timer = setInterval(async () => {
      // Reading a body has its own limit.
      if ((await isSilent()) && !answered) silent.abort(new StorageSilent('The object storage does not answer.'));
    }, limits.patienceMs);
    try {
      const either = abortSignal ? AbortSignal.any([abortSignal, silent.signal]) : silent.signal;
      return await client.send(command, { ...options, abortSignal: either });
    } catch (error) {
      throw silent.signal.aborted ? silent.signal.reason : error;
    } finally {
      answered = true;
      clearInterval(timer);
    }
  };
  return Object.create(client, { send: { value: send } });
}

async function isProbeSilent(ask: (signal: AbortSignal) => Promise<unknown>, answerMs: number): Promise<boolean> {
  const limit = new AbortController();
  const cancel = startTolerantTimer(answerMs, () => limit.abort());
  // Any other error is an answer, or ends the request by itself.
  await ask(limit.signal).catch(() => undefined);
  cancel();
  return limit.signal.aborted;
}
