import {
  type CompletedPart,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  PutObjectCommand,
  type S3Client,
  S3ServiceException,
  UploadPartCommand,
} from '@aws-sdk/client-s3';
import { type Block, gather } from './gather.ts';
import type { MemoryShare } from './memory.ts';
import { PartsUnderWay } from './parts-under-way.ts';
import type { PutOptions } from './port.ts';
import type { Source } from './source.ts';

const MIB = 2 ** 20;
const MAX_PARTS = 10_000;
/** The least that stores take: what is gained by more is lost by the memory for it. */
const MIN_PART_BYTES = 5 * MIB;
const ASSUMED_BYTES = 100 * 1024 * MIB;
/** Some stores copy the whole object before they answer. */
const COMPLETE_MS = 15 * 60_000;
/** A part may take as long as it does at the slowest line that counts as one, and a while to be written down. */
const PART_MS = 30_000;
const SLOWEST_BYTES_PER_MS = 64;
/** How long after a fault the outcome of requests other than parts is waited for. */
const SETTLE_MS = 10_000;

/** How large the parts of an object of up to `expectedBytes` are, all of one size as some stores want them. */
export function partBytes(expectedBytes = ASSUMED_BYTES): number {
  return Math.max(MIN_PART_BYTES, Math.ceil(expectedBytes / MAX_PARTS / MIB) * MIB);
}

/** Where an object is to be. */
export interface S3Object {
  Bucket: string;
  Key: string;
}

/**
 * Sends a source as one object, in parts when it is larger than one. Settles only when nothing is under way any
 * more, so that the caller may clean up after a failure.
 *
 * @returns whether the store may hold another multipart upload under the key, begun by a request whose answer was lost
 */
export async function sendObject(
  client: S3Client,
  object: S3Object & { ContentType: string },
  source: Source,
  { memory, expectedBytes, onDoubt }: Pick<PutOptions, 'expectedBytes' | 'onDoubt'> & { memory: MemoryShare },
): Promise<{ repeated: boolean }> {
  const size = partBytes(expectedBytes);
  const requests = new UploadRequests(client, source, size, onDoubt);
  const blocks = gather(source, size, memory);
  const first = await blocks.next();
  if (first.done || first.value.block.length < size) {
    const Body = first.done ? Buffer.alloc(0) : first.value.block;
    // To its end, where the source tells of a fault.
    await blocks.next();
    await requests.send(new PutObjectCommand({ ...object, Body }));
    return { repeated: false };
  }
  const { UploadId, $metadata } = await requests.send(new CreateMultipartUploadCommand(object));
  const { ContentType: _, ...where } = { ...object, UploadId };
  const Parts: CompletedPart[] = [];
  await sendParts(requests, { ...where, first: 1 }, chain(first.value, blocks), async (part) => {
    Parts.push(part);
  });
  await requests.send(new CompleteMultipartUploadCommand({ ...where, MultipartUpload: { Parts } }));
  return { repeated: ($metadata.attempts ?? 1) > 1 };
}

/** Where parts go, and the number of the first one. */
type PartsOf = S3Object & { UploadId: string | undefined; first: number };

/**
 * Sends blocks as parts, several at once. Settles when none is under way.
 *
 * @param onPart is told of each part that the store has, in their order, one after the other
 */
async function sendParts(
  requests: UploadRequests,
  { first, ...where }: PartsOf,
  blocks: AsyncIterable<Block>,
  onPart: (part: CompletedPart, bytes: number) => Promise<void>,
): Promise<void> {
  const underWay = new Set<Promise<unknown>>();
  const width = new PartsUnderWay();
  let told: Promise<void> = Promise.resolve();
  let PartNumber = first;
  const send = async (number: number, { block, give }: Block) => {
    const atOnce = underWay.size + 1;
    const started = performance.now();
    const { ETag } = await requests.send(
      new UploadPartCommand({ ...where, PartNumber: number, Body: block }),
    );
    width.took(performance.now() - started, atOnce);
    const bytes = block.length;
    give();
    return { part: { PartNumber: number, ETag }, bytes };
  };
  try {
    for await (const block of blocks) {
      const sending = send(PartNumber++, block);
      // Stays rejected with the first fault: a part after a missing one is not told of.
      told = Promise.all([sending, told]).then(([{ part, bytes }]) => onPart(part, bytes));
      told.catch((error) => requests.fail(error));
      const settled = sending.catch(() => undefined).finally(() => underWay.delete(settled));
      underWay.add(settled);
      while (underWay.size >= width.most) await Promise.race(underWay);
      requests.throwIfFailed();
    }
  } finally {
    await Promise.allSettled([...underWay, told]);
  }
  requests.throwIfFailed();
}

/**
 * Sends a source as further parts of a multipart upload.
 *
 * @param where.first the number of the first part; one of that number, or a higher one, is replaced
 * @returns what is left over at the end and is less than a part
 */
export async function appendParts(
  client: S3Client,
  { partBytes: size, ...where }: PartsOf & { partBytes: number },
  source: Source,
  memory: MemoryShare,
  onPart: (part: CompletedPart, bytes: number) => Promise<void>,
): Promise<Buffer> {
  const requests = new UploadRequests(client, source, size);
  let rest = Buffer.alloc(0);
  const whole = async function* () {
    for await (const block of gather(source, size, memory)) {
      if (block.block.length === size) yield block;
      else rest = Buffer.from(block.block);
    }
  };
  await sendParts(requests, where, whole(), onPart);
  return rest;
}

/**
 * Puts an object together of its parts, in their order, and what comes after them.
 *
 * @throws {NoSuchUpload} also when that has been done before
 */
export async function completeParts(
  client: S3Client,
  { partBytes: size, ...where }: S3Object & { UploadId: string | undefined; partBytes: number },
  receipts: readonly string[],
  rest: Uint8Array,
): Promise<void> {
  const Parts: CompletedPart[] = receipts.map((ETag, i) => ({ ETag, PartNumber: i + 1 }));
  // An object has a part, be it empty.
  if (rest.length > 0 || receipts.length === 0) {
    const PartNumber = receipts.length + 1;
    const command = new UploadPartCommand({ ...where, PartNumber, Body: rest });
    const { ETag } = await client.send(command, { requestTimeout: timeLimit(command, size) });
    Parts.push({ ETag, PartNumber });
  }
  const command = new CompleteMultipartUploadCommand({ ...where, MultipartUpload: { Parts } });
  await client.send(command, { requestTimeout: timeLimit(command, size) });
}

/**
 * The requests of one upload. The first fault ends its source and all parts under way; of every other request the outcome
 * should be known.
 */
class UploadRequests {
  readonly #client: S3Client;
  readonly #source: Source;
  readonly #partBytes: number;
  readonly #settled: AbortSignal;
  readonly #onDoubt: (() => void) | undefined;
  /** The client's own, which tells each request the type of its answer. */
  readonly send: S3Client['send'];

  constructor(client: S3Client, source: Source, size: number, onDoubt?: () => void) {
    this.#onDoubt = onDoubt;
    this.#client = client;
    this.#source = source;
    this.#partBytes = size;
    this.#settled = delayed(source.signal, SETTLE_MS);
    this.send = ((command: Parameters<S3Client['send']>[0]) => this.#send(command)) as S3Client['send'];
  }

  /** Ends the upload. */
  fail(error: unknown): void {
    this.#source.fail(error);
  }

  /** @throws the first fault */
  throwIfFailed(): void {
    this.#source.signal.throwIfAborted();
  }

  async #send(command: Parameters<S3Client['send']>[0]): Promise<unknown> {
    const abortSignal = command instanceof UploadPartCommand ? this.#source.signal : this.#settled;
    this.throwIfFailed();
    try {
      const answer = await this.#client.send(command, {
        abortSignal,
        requestTimeout: timeLimit(command, this.#partBytes),
      });
      const repeated = (answer.$metadata.attempts ?? 1) > 1;
      if (repeated && leavesSomething(command)) this.#onDoubt?.();
      return answer;
    } catch (error) {
      if (leavesSomething(command) && !isRefusal(error)) this.#onDoubt?.();
      this.#source.fail(error);
      throw error;
    }
  }
}

async function* chain<T>(first: T, rest: AsyncIterable<T>): AsyncGenerator<T, void, void> {
  yield first;
  yield* rest;
}

/** Whether a request that is carried out late leaves something. A part does not, once its upload has been aborted. */
function leavesSomething(command: Parameters<S3Client['send']>[0]): boolean {
  return !(command instanceof UploadPartCommand);
}

/** Whether the store has said that it did not do what it was asked for, and was asked only once. */
export function isRefusal(error: unknown): boolean {
  if (!(error instanceof S3ServiceException)) return false;
  const { httpStatusCode = 500, attempts = 1 } = error.$metadata;
  return httpStatusCode < 500 && attempts === 1;
}

/** For one attempt, in milliseconds; undefined for what is soon done. */
function timeLimit(command: object, size: number): number | undefined {
  if (command instanceof CompleteMultipartUploadCommand) return COMPLETE_MS;
  const sends = command instanceof UploadPartCommand || command instanceof PutObjectCommand;
  return sends ? PART_MS + size / SLOWEST_BYTES_PER_MS : undefined;
}

/** Aborts some time after another signal does. */
function delayed(signal: AbortSignal, ms: number): AbortSignal {
  const controller = new AbortController();
  const start = () => void setTimeout(() => controller.abort(signal.reason), ms).unref();
  if (signal.aborted) start();
  else signal.addEventListener('abort', start, { once: true });
  return controller.signal;
}
