import {
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  PutObjectCommand,
  type S3Client,
  S3ServiceException,
  UploadPartCommand,
} from '@aws-sdk/client-s3';
import { Upload } from '@aws-sdk/lib-storage';
import type { PutOptions } from './port.ts';
import type { Source } from './source.ts';

const MIB = 2 ** 20;
const MAX_PARTS = 10_000;
const MIN_PART_BYTES = 5 * MIB;
const ASSUMED_BYTES = 100 * 1024 * MIB;
/** What one upload may hold: parts under way, one being filled and one being joined. */
const MEMORY_BYTES = 64 * MIB;
const MAX_PARTS_UNDER_WAY = 2;
/** Some stores copy the whole object before they answer. */
const COMPLETE_MS = 15 * 60_000;
/** A part may take as long as it does at the slowest line that counts as one, and a while to be written down. */
const PART_MS = 30_000;
const SLOWEST_BYTES_PER_MS = 64;
/** How long after a fault the outcome of requests other than parts is waited for. */
const SETTLE_MS = 10_000;

/** How to cut an object of up to `expectedBytes` into parts, all of one size as some stores want them. */
export function partPlan(expectedBytes = ASSUMED_BYTES): { partSize: number; queueSize: number } {
  const partSize = Math.max(MIN_PART_BYTES, Math.ceil(expectedBytes / MAX_PARTS / MIB) * MIB);
  const underWay = Math.floor(MEMORY_BYTES / partSize) - 2;
  return { partSize, queueSize: Math.min(MAX_PARTS_UNDER_WAY, Math.max(1, underWay)) };
}

/**
 * Sends a source as one object, in parts when it is larger than one. Settles only when nothing is under way any
 * more, so that the caller may clean up after a failure.
 *
 * @returns whether the store may hold another multipart upload under the key, begun by a request whose answer was lost
 */
export async function sendObject(
  client: S3Client,
  object: { Bucket: string; Key: string; ContentType: string },
  source: Source,
  { expectedBytes, onDoubt }: Pick<PutOptions, 'expectedBytes' | 'onDoubt'>,
): Promise<{ repeated: boolean }> {
  let repeated = false;
  const { partSize, queueSize } = partPlan(expectedBytes);
  const upload = new Upload({
    client: cancellable(client, source, partSize, {
      onRepeatedCreate: () => {
        repeated = true;
      },
      onDoubt,
    }),
    params: { ...object, Body: source.body },
    partSize,
    queueSize,
  });
  await upload.done();
  source.signal.throwIfAborted();
  return { repeated };
}

/**
 * The client as `Upload` shall see it. `Upload` waits for the source while a part of it has been refused, and for
 * parts under way while the source has failed; here the first fault ends both. Only parts are cancelled at once: of
 * every other request the outcome should be known.
 */
function cancellable(
  client: S3Client,
  source: Source,
  partSize: number,
  { onRepeatedCreate, onDoubt }: { onRepeatedCreate: () => void; onDoubt: (() => void) | undefined },
): S3Client {
  const settled = delayed(source.signal, SETTLE_MS);
  const send = async (command: Parameters<S3Client['send']>[0]) => {
    const abortSignal = command instanceof UploadPartCommand ? source.signal : settled;
    const requestTimeout = timeLimit(command, partSize);
    try {
      const answer = await client.send(command, { abortSignal, requestTimeout });
      const repeated = (answer.$metadata.attempts ?? 1) > 1;
      if (repeated && command instanceof CreateMultipartUploadCommand) onRepeatedCreate();
      if (repeated && leavesSomething(command)) onDoubt?.();
      return answer;
    } catch (error) {
      if (leavesSomething(command) && !isRefusal(error)) onDoubt?.();
      source.fail(error);
      throw error;
    }
  };
  return Object.create(client, { send: { value: send } });
}

/** Whether a request that is carried out late leaves something. A part does not, once its upload has been aborted. */
function leavesSomething(command: Parameters<S3Client['send']>[0]): boolean {
  return !(command instanceof UploadPartCommand);
}

/** Whether the store has said that it did not do what it was asked for, and was asked only once. */
function isRefusal(error: unknown): boolean {
  if (!(error instanceof S3ServiceException)) return false;
  const { httpStatusCode = 500, attempts = 1 } = error.$metadata;
  return httpStatusCode < 500 && attempts === 1;
}

/** For one attempt, in milliseconds; undefined for what is soon done. */
function timeLimit(command: Parameters<S3Client['send']>[0], partSize: number): number | undefined {
  if (command instanceof CompleteMultipartUploadCommand) return COMPLETE_MS;
  const sends = command instanceof UploadPartCommand || command instanceof PutObjectCommand;
  return sends ? PART_MS + partSize / SLOWEST_BYTES_PER_MS : undefined;
}

/** Aborts some time after another signal does. */
function delayed(signal: AbortSignal, ms: number): AbortSignal {
  const controller = new AbortController();
  const start = () => void setTimeout(() => controller.abort(signal.reason), ms).unref();
  if (signal.aborted) start();
  else signal.addEventListener('abort', start, { once: true });
  return controller.signal;
}
