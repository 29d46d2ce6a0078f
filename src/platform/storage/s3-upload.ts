import {
  type CompletedPart,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  PutObjectCommand,
  type S3Client,
  UploadPartCommand,
} from '@aws-sdk/client-s3';
import type { PutOptions } from './object-storage.ts';
import {
  COMPLETE_MS,
  ensureComplete,
  partTimeoutMs,
  type S3Object,
  signBody,
  type UploadRequests,
  uploadRequests,
} from './s3-requests.ts';
import type { MemoryShare } from './upload-memory.ts';
import { type Block, readBlocks, type Source } from './upload-source.ts';

const LEAST = 2;
const MOST = 8;
/** Parts that queue somewhere on the way: fewer leave the line idle at times, more only use memory. */
const FEW_IN_LINE = 2;
const MANY_IN_LINE = 4;
/** One part for each so many milliseconds that the fastest part takes is enough. At that pace, a store stores 350 MB/s. */
const MS_PER_PART = 15;
/** The number of parts that a near store may always get. */
const LEAST_ENOUGH = 4;

/**
 * The number of parts to send concurrently. A distant store needs many; for a near one, many only use memory. When parts
 * take longer the more there are, they queue somewhere, and more would not be stored sooner.
 */
export class PartConcurrency {
  /** The current number, from 2 to 8. */
  most = LEAST;
  #fastestMs = Number.POSITIVE_INFINITY;

  /** Records the time that a part took, and the number of pending parts when it was sent. */
  record(ms: number, atOnce: number): void {
    this.#fastestMs = Math.min(this.#fastestMs, ms);
    const inLine = atOnce * (1 - this.#fastestMs / ms);
    const enough = Math.min(MOST, Math.max(LEAST_ENOUGH, Math.ceil(this.#fastestMs / MS_PER_PART)));
    if (inLine < FEW_IN_LINE) this.most = Math.min(enough, Math.max(this.most, atOnce + 1));
    else if (inLine > MANY_IN_LINE) this.most = Math.max(LEAST, this.most - 1);
  }
}

const MIB = 2 ** 20;
const MAX_PARTS = 10_000;
/** The minimum of stores: larger parts gain less than their memory costs. */
const MIN_PART_BYTES = 5 * MIB;
const ASSUMED_BYTES = 100 * 1024 * MIB;

/** Returns the part size for an object of up to `expectedBytes`. All parts have one size, as some stores require. */
export function partBytes(expectedBytes = ASSUMED_BYTES): number {
  return Math.max(MIN_PART_BYTES, Math.ceil(expectedBytes / MAX_PARTS / MIB) * MIB);
}

/**
 * Sends a source as one object, in parts when it is large. Settles after the last request. @returns whether the store
 * may hold another multipart upload under the key, because an answer was lost
 */
export async function sendObject(
  client: S3Client,
  object: S3Object & { ContentType: string },
  source: Source,
  { memory, expectedBytes, onDoubt }: Pick<PutOptions, 'expectedBytes' | 'onDoubt'> & { memory: MemoryShare },
): Promise<{ repeated: boolean }> {
  const size = partBytes(expectedBytes);
  const requests = uploadRequests(client, source, size, onDoubt);
  const blocks = readBlocks(source, size, memory);
  const first = await blocks.next();
  if (first.done || first.value.block.length < size) {
    const Body = first.done ? Buffer.alloc(0) : first.value.block;
    await requests.send(new PutObjectCommand({ ...object, Body }));
    // Reads to the end: the caller has seen all bytes by then.
    await blocks.next();
    return { repeated: false };
  }
  const { UploadId, $metadata } = await requests.send(new CreateMultipartUploadCommand(object));
  const { ContentType: _, ...where } = { ...object, UploadId };
  const Parts: CompletedPart[] = [];
  let bytes = 0;
  await sendParts(requests, { ...where, first: 1 }, chain(first.value, blocks), async (part, partBytes) => {
    Parts.push(part);
    bytes += partBytes;
  });
  await requests.complete({ ...where, MultipartUpload: { Parts } }, bytes);
  return { repeated: ($metadata.attempts ?? 1) > 1 };
}

type PartsOf = S3Object & { UploadId: string | undefined; first: number };

/** Sends blocks as parts, several concurrently; `onPart` receives the stored parts in order. */
async function sendParts(
  requests: UploadRequests,
  { first, ...where }: PartsOf,
  blocks: AsyncIterable<Block>,
  onPart: (part: CompletedPart, bytes: number) => Promise<void>,
): Promise<void> {
  const underWay = new Set<Promise<unknown>>();
  const width = new PartConcurrency();
  let told: Promise<void> = Promise.resolve();
  let PartNumber = first;
  const send = async (number: number, { block, release }: Block) => {
    const atOnce = underWay.size + 1;
    const command = new UploadPartCommand({ ...where, PartNumber: number, Body: block });
    await signBody(command, block);
    const started = performance.now();
    const { ETag } = await requests.send(command);
    width.record(performance.now() - started, atOnce);
    const bytes = block.length;
    release();
    return { part: { PartNumber: number, ETag }, bytes };
  };
  try {
    for await (const block of blocks) {
      const sending = send(PartNumber++, block);
      // Stays rejected after the first error: a part after a missing one is not reported.
      told = Promise.all([sending, told]).then(([{ part, bytes }]) => onPart(part, bytes));
      told.catch((error) => requests.source.fail(error));
      const settled = sending.catch(() => undefined).finally(() => underWay.delete(settled));
      underWay.add(settled);
      while (underWay.size >= width.most) await Promise.race(underWay);
      requests.source.signal.throwIfAborted();
    }
  } finally {
    await Promise.allSettled([...underWay, told]);
  }
  requests.source.signal.throwIfAborted();
}

/**
 * Sends a source as further parts; parts with the same or higher numbers are replaced.
 *
 * @returns the remaining bytes, less than a part; valid until the memory is closed
 */
export async function appendParts(
  client: S3Client,
  { partBytes: size, ...where }: PartsOf & { partBytes: number },
  source: Source,
  memory: MemoryShare,
  onPart: (part: CompletedPart, bytes: number) => Promise<void>,
): Promise<Uint8Array> {
  const requests = uploadRequests(client, source, size);
  let rest: Uint8Array = new Uint8Array();
  const whole = async function* () {
    for await (const block of readBlocks(source, size, memory)) {
      if (block.block.length === size) yield block;
      // Its memory is kept for the caller.
      else rest = block.block;
    }
  };
  await sendParts(requests, where, whole(), onPart);
  return rest;
}

/** Assembles an object from its parts and the bytes after them. @throws {NoSuchUpload} when it does not exist */
export async function completeParts(
  client: S3Client,
  { partBytes: size, ...where }: S3Object & { UploadId: string | undefined; partBytes: number },
  receipts: readonly string[],
  rest: Uint8Array,
): Promise<void> {
  const Parts: CompletedPart[] = receipts.map((ETag, i) => ({ ETag, PartNumber: i + 1 }));
  const bytes = receipts.length * size + rest.length;
  await ensureComplete(client, where, bytes, async () => {
    // An object needs a part, even an empty one.
    if (rest.length > 0 || receipts.length === 0) {
      const PartNumber = receipts.length + 1;
      const command = new UploadPartCommand({ ...where, PartNumber, Body: rest });
      const { ETag } = await client.send(command, { requestTimeout: partTimeoutMs(size) });
      Parts.push({ ETag, PartNumber });
    }
    const command = new CompleteMultipartUploadCommand({ ...where, MultipartUpload: { Parts } });
    return client.send(command, { requestTimeout: COMPLETE_MS });
  });
}

async function* chain<T>(first: T, rest: AsyncIterable<T>): AsyncGenerator<T, void, void> {
  yield first;
  yield* rest;
}
