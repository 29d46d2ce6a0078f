import { Readable } from 'node:stream';
import {
  AbortMultipartUploadCommand,
  type CompletedPart,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  HeadBucketCommand,
  HeadObjectCommand,
  ListMultipartUploadsCommand,
  type ListMultipartUploadsCommandOutput,
  type MultipartUpload,
  NoSuchUpload,
  paginateListObjectsV2,
  type S3Client,
  S3ServiceException,
} from '@aws-sdk/client-s3';
import { isObjectKey, requireObjectKey } from './object-keys.ts';
import {
  type AppendOptions,
  type BegunObject,
  type ByteRange,
  type ListedObject,
  type ListOptions,
  ObjectNotFound,
  type ObjectStorage,
  type PutOptions,
  RangeNotSatisfiable,
  storageRefused,
} from './object-storage.ts';
import { failWhenSilent, type S3Clients } from './s3-client.ts';
import { isRefusal } from './s3-requests.ts';
import { appendParts, completeParts, partBytes, sendObject } from './s3-upload.ts';
import { UploadMemory } from './upload-memory.ts';
import { Source } from './upload-source.ts';
import { webStream } from './web-stream.ts';

const CHECK_MS = 5_000;
/** The time a failed `put` may spend on cleaning up; the staging ledger keeps what is left. */
const CLEAN_UP_MS = 5_000;
const REMOVALS_AT_ONCE = 8;
/** Errors of a connection that a store has closed: it may have refused a part, and its answer was lost. */
const CUT_OFF = ['EPIPE', 'ECONNRESET'];
/** Sorts after every character of a key. */
const AFTER_ALL = '~';
/** Marks an object that may have been begun twice, because an answer was lost. */
const AGAIN = 'again';

/** An upload fails before its client gives up, and a connection may need three attempts. */
const LIMITS = { patienceMs: 5_000, answerMs: 8_000, idleMs: 20_000 };

type S3Options = S3Clients & { bucket: string; memory?: UploadMemory; limits?: typeof LIMITS };

/** Objects in a bucket, each under its key. */
export class S3Storage implements ObjectStorage {
  readonly #client: S3Client;
  readonly #options: Required<S3Options>;

  constructor({ memory = new UploadMemory(), limits = LIMITS, ...options }: S3Options) {
    this.#options = { ...options, memory, limits };
    this.#client = failWhenSilent(options.client, (signal) => this.#ask(signal), limits);
  }

  async put(key: string, body: Readable | Uint8Array, options: PutOptions): Promise<void> {
    const source = new Source(body, options);
    const object = source.validate(() => ({ ...this.#object(key), ContentType: options.mediatype }));
    await source.run(this.#options.memory, async (memory) => {
      try {
        const { repeated } = await sendObject(this.#client, object, source, { ...options, memory });
        if (repeated) await this.#abortMultiparts(key).catch(() => undefined);
      } catch (error) {
        source.fail(error);
        await this.#removeOne(key, AbortSignal.timeout(CLEAN_UP_MS)).catch(() => undefined);
        throw error;
      }
    });
  }

  async begin(
    key: string,
    { mediatype, expectedBytes, onDoubt }: Pick<PutOptions, 'mediatype' | 'expectedBytes' | 'onDoubt'>,
  ): Promise<string> {
    const command = new CreateMultipartUploadCommand({ ...this.#object(key), ContentType: mediatype });
    try {
      const { UploadId, $metadata } = await this.#client.send(command);
      const again = ($metadata.attempts ?? 1) > 1;
      return [partBytes(expectedBytes), UploadId, ...(again ? [AGAIN] : [])].join(' ');
    } catch (error) {
      if (!isRefusal(error)) onDoubt?.();
      throw storageRefused(error);
    }
  }

  async append(object: BegunObject, from: number, body: Readable, options: AppendOptions): Promise<void> {
    const source = new Source(body, options);
    const { again: _, ...where } = source.validate(() => this.#begun(object));
    const appending = source.run(this.#options.memory, async (memory) => {
      const first = from / where.partBytes + 1;
      const onPart = ({ ETag = '' }: CompletedPart, bytes: number) =>
        source.awaitCaller(options.onPiece({ bytes, receipt: ETag }));
      const rest = await appendParts(this.#client, { ...where, first }, source, memory, onPart);
      await source.awaitCaller(options.onRest(rest));
    });
    await appending.catch(async (error) => {
      const { cause } = error ?? {};
      const isGone =
        cause instanceof NoSuchUpload ||
        (CUT_OFF.includes(cause?.code) && (await this.#isGone(object.key, where.UploadId)));
      throw isGone ? new ObjectNotFound(object.key) : error;
    });
  }

  async complete(object: BegunObject, receipts: readonly string[], rest: Uint8Array): Promise<void> {
    const { again, ...where } = this.#begun(object);
    try {
      await completeParts(this.#client, where, receipts, rest);
      if (again) await this.#abortMultiparts(object.key);
    } catch (error) {
      throw error instanceof NoSuchUpload ? new ObjectNotFound(object.key) : storageRefused(error);
    }
  }

  async get(key: string, range?: ByteRange, signal?: AbortSignal): Promise<ReadableStream<Uint8Array>> {
    if (range && (range.start < 0 || range.start > range.end)) throw new RangeNotSatisfiable();
    const command = new GetObjectCommand({
      ...this.#object(key),
      Range: range && `bytes=${range.start}-${range.end}`,
    });
    const { Body } = await this.#client.send(command, { abortSignal: signal }).catch(rethrowFor(key));
    if (!(Body instanceof Readable)) throw new Error('The object storage answered without a body.');
    return webStream(Body, { idleMs: this.#options.limits.idleMs, signal });
  }

  async size(key: string): Promise<number> {
    const command = new HeadObjectCommand(this.#object(key));
    const { ContentLength } = await this.#client.send(command).catch(rethrowFor(key));
    if (ContentLength === undefined) throw new Error('The object storage did not report the size of an object.');
    return ContentLength;
  }

  async remove(keys: readonly string[]): Promise<void> {
    const left = keys.map(requireObjectKey).values();
    const removeNext = async () => {
      for (const key of left) await this.#removeOne(key);
    };
    await Promise.all(Array.from({ length: REMOVALS_AT_ONCE }, removeNext));
  }

  async *list(prefix: string, { after, onForeign }: ListOptions = {}): AsyncIterable<ListedObject> {
    const pages = paginateListObjectsV2(
      { client: this.#client },
      { Bucket: this.#options.bucket, Prefix: prefix, StartAfter: after && `${after}/${AFTER_ALL}` },
    );
    for await (const { Contents = [] } of pages) {
      for (const { Key = '', Size = 0, LastModified = new Date(0) } of Contents) {
        if (isObjectKey(Key)) yield { key: Key, size: Size, modified: LastModified };
        else onForeign?.(Key);
      }
    }
  }

  async *unfinished(prefix?: string, onForeign?: (name: string) => void): AsyncIterable<string> {
    for await (const { Key = '' } of this.#multiparts(prefix)) {
      if (isObjectKey(Key)) yield Key;
      else onForeign?.(Key);
    }
  }

  async removeUnfinished(key: string): Promise<void> {
    await this.#abortMultiparts(requireObjectKey(key));
  }

  localPath(key: string): undefined {
    requireObjectKey(key);
  }

  async link(): Promise<boolean> {
    return false;
  }

  async requireRoom(): Promise<void> {}

  async check(signal?: AbortSignal): Promise<void> {
    const limit = AbortSignal.timeout(CHECK_MS);
    await this.#ask(signal ? AbortSignal.any([signal, limit]) : limit).catch((error) => {
      if (!(error instanceof S3ServiceException)) throw error;
      // S3 answers this request without a message.
      throw new Error(`HTTP ${error.$metadata.httpStatusCode}`, { cause: error });
    });
  }

  checkReading(): Promise<void> {
    return this.check();
  }

  async close(): Promise<void> {
    this.#client.destroy();
    this.#options.probe.destroy();
  }

  async #ask(abortSignal: AbortSignal): Promise<void> {
    await this.#options.probe.send(new HeadBucketCommand({ Bucket: this.#options.bucket }), { abortSignal });
  }

  #begun({ key, handle }: BegunObject) {
    const [bytes, UploadId, again] = handle.split(' ');
    return { ...this.#object(key), UploadId, partBytes: Number(bytes), again: again === AGAIN };
  }

  #object(key: string): { Bucket: string; Key: string } {
    return { Bucket: this.#options.bucket, Key: requireObjectKey(key) };
  }

  /** Aborts uploads first: one that completes in between would restore the object. */
  async #removeOne(key: string, abortSignal?: AbortSignal): Promise<void> {
    await this.#abortMultiparts(key, abortSignal);
    await this.#client.send(new DeleteObjectCommand(this.#object(key)), { abortSignal });
  }

  /** Reports whether a multipart upload is gone; false if the store does not answer. */
  async #isGone(key: string, uploadId: string | undefined): Promise<boolean> {
    try {
      const listed = await Array.fromAsync(this.#multiparts(key, AbortSignal.timeout(CLEAN_UP_MS)));
      return listed.every(({ UploadId }) => UploadId !== uploadId);
    } catch {
      return false;
    }
  }

  async #abortMultiparts(key: string, abortSignal?: AbortSignal): Promise<void> {
    for await (const { Key, UploadId } of this.#multiparts(key, abortSignal)) {
      if (Key !== key) continue;
      const command = new AbortMultipartUploadCommand({ ...this.#object(key), UploadId });
      await this.#client.send(command, { abortSignal }).catch((error) => {
        // Completed or aborted since it was listed.
        if (!(error instanceof NoSuchUpload)) throw error;
      });
    }
  }

  async *#multiparts(Prefix?: string, abortSignal?: AbortSignal): AsyncIterable<MultipartUpload> {
    let page: { KeyMarker?: string; UploadIdMarker?: string } | undefined = {};
    while (page) {
      const answer: ListMultipartUploadsCommandOutput = await this.#client.send(
        new ListMultipartUploadsCommand({ Bucket: this.#options.bucket, Prefix, ...page }),
        { abortSignal },
      );
      yield* answer.Uploads ?? [];
      page = answer.IsTruncated
        ? { KeyMarker: answer.NextKeyMarker, UploadIdMarker: answer.NextUploadIdMarker }
        : undefined;
    }
  }
}

/** Translates the errors for a missing object and for a range outside it. */
function rethrowFor(key: string): (error: unknown) => never {
  return (error) => {
    if (error instanceof S3ServiceException) {
      // HEAD answers have no body that would name the error.
      if (error.name === 'NoSuchKey' || error.name === 'NotFound') throw new ObjectNotFound(key);
      if (error.name === 'InvalidRange') throw new RangeNotSatisfiable();
    }
    throw error;
  };
}
