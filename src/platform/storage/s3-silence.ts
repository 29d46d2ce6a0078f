import type { S3Client } from '@aws-sdk/client-s3';
import { patientTimer } from '../process/timeout.ts';

/** The object storage takes connections and says nothing. */
export class StorageSilent extends Error {
  override name = 'StorageSilent';
  constructor() {
    super('The object storage does not answer.');
  }
}

/** When the storage counts as silent, in milliseconds. */
export interface SilenceLimits {
  /** How long a request may take before the storage is asked whether it is there. */
  patienceMs: number;
  /** How long it has to answer that. */
  answerMs: number;
}

/**
 * The client, but that all its requests end once the storage has gone silent. How long a single request takes says
 * little: a part may be moving over a slow line, a large object being put together. So while one takes long, the
 * storage is asked something small beside it.
 *
 * @param ask settles when the storage answers, whatever it answers
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
      // What has begun to be read has its own limit.
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
  // Whatever else goes wrong is an answer, or ends the request by itself.
  await ask(limit.signal).catch(() => undefined);
  cancel();
  return limit.signal.aborted;
}
