import {
  CompleteMultipartUploadCommand,
  type CompleteMultipartUploadCommandInput,
  HeadObjectCommand,
  NoSuchUpload,
  NotFound,
  PutObjectCommand,
  type S3Client,
  S3ServiceException,
  UploadPartCommand,
  type UploadPartCommandOutput,
} from '@aws-sdk/client-s3';
import { sha256Of } from './thread/storage-thread.ts';
import type { Source } from './upload-source.ts';

/** Time limit of completing, in milliseconds: some stores copy the whole object before they answer. */
export const COMPLETE_MS = 15 * 60_000;
/** A part may take the time of the slowest acceptable line, plus this for storing it. */
const PART_MS = 30_000;
const SLOWEST_BYTES_PER_MS = 64;
/** The time after an error during which the outcome of requests other than parts is awaited. */
const SETTLE_MS = 10_000;

export interface S3Object {
  Bucket: string;
  Key: string;
}

type ResponseMetadata = Pick<UploadPartCommandOutput, '$metadata'>;

export type UploadRequests = ReturnType<typeof uploadRequests>;

/** Returns functions that send the requests of one upload. The first error ends its source and all pending parts. */
export function uploadRequests(client: S3Client, source: Source, partBytes: number, onDoubt?: () => void) {
  const settled = delayedSignal(source.signal, SETTLE_MS);
  const run = async (leavesSomething: boolean, request: () => Promise<ResponseMetadata>) => {
    source.signal.throwIfAborted();
    try {
      const answer = await request();
      const repeated = (answer.$metadata.attempts ?? 1) > 1;
      if (repeated && leavesSomething) onDoubt?.();
      return answer;
    } catch (error) {
      if (leavesSomething && !isRefusal(error)) onDoubt?.();
      source.fail(error);
      throw error;
    }
  };
  const send = (command: Parameters<S3Client['send']>[0]) => {
    // A late part leaves nothing after its upload is aborted.
    const isPart = command instanceof UploadPartCommand;
    const hasBody = isPart || command instanceof PutObjectCommand;
    const abortSignal = isPart ? source.signal : settled;
    const options = { abortSignal, requestTimeout: hasBody ? partTimeoutMs(partBytes) : undefined };
    return run(!isPart, () => client.send(command, options));
  };
  const complete = async (input: CompleteMultipartUploadCommandInput, bytes: number) => {
    const options = { abortSignal: settled, requestTimeout: COMPLETE_MS };
    const request = () => client.send(new CompleteMultipartUploadCommand(input), options);
    await run(true, () => ensureComplete(client, input, bytes, request));
  };
  // The client's own type knows the answer of each request.
  return { source, send: send as S3Client['send'], complete };
}

/** Completes a multipart upload, or finds it complete after a lost answer. @throws {NoSuchUpload} */
export async function ensureComplete(
  client: S3Client,
  { Bucket, Key }: Pick<CompleteMultipartUploadCommandInput, 'Bucket' | 'Key'>,
  bytes: number,
  complete: () => Promise<ResponseMetadata>,
): Promise<ResponseMetadata> {
  return complete().catch(async (error) => {
    if (!(error instanceof NoSuchUpload)) throw error;
    const found = await client.send(new HeadObjectCommand({ Bucket, Key })).catch((fault) => {
      throw fault instanceof NotFound ? error : fault;
    });
    if (found.ContentLength !== bytes) throw error;
    return found;
  });
}

/** Signs the body. The client would hash it in the thread that receives more bytes. */
export async function signBody(command: UploadPartCommand, bytes: Uint8Array): Promise<void> {
  const sum = await sha256Of(bytes);
  command.middlewareStack.add(
    (next) => (args) => {
      (args.request as { headers: Record<string, string> }).headers['x-amz-content-sha256'] = sum;
      return next(args);
    },
    { step: 'build', name: 'sumOfTheBody' },
  );
}

/** Reports whether the store has refused a request for certain, and received it only once. */
export function isRefusal(error: unknown): boolean {
  if (!(error instanceof S3ServiceException)) return false;
  const { httpStatusCode = 500, attempts = 1 } = error.$metadata;
  return httpStatusCode < 500 && attempts === 1;
}

/** Returns the time limit of one attempt to send so many bytes, in milliseconds. */
export function partTimeoutMs(bytes: number): number {
  return PART_MS + bytes / SLOWEST_BYTES_PER_MS;
}

function delayedSignal(signal: AbortSignal, ms: number): AbortSignal {
  const controller = new AbortController();
  const start = () => void setTimeout(() => controller.abort(signal.reason), ms).unref();
  if (signal.aborted) start();
  else signal.addEventListener('abort', start, { once: true });
  return controller.signal;
}
