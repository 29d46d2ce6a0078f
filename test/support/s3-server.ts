import { randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { access, mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { Readable } from 'node:stream';

/**
 * An S3 server as a process of its own: `node s3-server.ts PORT FOLDER BUCKET`. The npm package s3rver speaks the
 * protocol and keeps objects in files. Added here is what it lacks and uploads rest on: AbortMultipartUpload,
 * ListMultipartUploads, refusing parts of an upload that is gone, checking the parts of a completed one, objects that
 * appear whole or not at all, lists of several pages (it makes their tokens by a cipher that OpenSSL has dropped), and the
 * edges of ranges.
 */
interface Context {
  method: string;
  path: string;
  query: Record<string, string | undefined>;
  status: number;
  body: unknown;
}
type Next = () => Promise<unknown>;
type Middleware = (ctx: Context, next: Next) => Promise<unknown>;
interface Part {
  number: number;
  etag: string;
}
interface Written {
  size: number;
  md5: string;
}
interface StoredObject {
  size: number;
  range?: Range;
  content?: Readable;
}
interface Range {
  start?: number;
  end?: number;
}
declare class Store {
  constructor(directory: string);
  getBucket(bucket: string): Promise<unknown>;
  putBucket(bucket: string): Promise<unknown>;
  getResourcePath(bucket: string, key: string | undefined, resource: string): string;
  getObject(bucket: string, key: string, range?: Range): Promise<StoredObject | null>;
  putContent(path: string, content: unknown): Promise<[number, string]>;
  putMetadata(bucket: string, key: string, metadata: object, md5?: string): Promise<void>;
  putObjectMultipart(bucket: string, uploadId: string, parts: Part[]): Promise<Written>;
  listObjects(
    bucket: string,
    options: { prefix: string; startAfter: string; maxKeys: number },
  ): Promise<{ objects: { key: string; size: number; lastModifiedDate: Date }[]; isTruncated: boolean }>;
}
interface Server {
  store: Store;
  context: { store: Store };
  middleware: Middleware[];
  run(): Promise<{ port: number }>;
}

const require = createRequire(import.meta.url);
const S3rver: new (options: object) => Server = require('@20minutes/s3rver');
const FilesystemStore: typeof Store = require('@20minutes/s3rver/lib/stores/filesystem');
const S3Error: new (code: string, message: string) => Error = require('@20minutes/s3rver/lib/models/error');

const MIN_PART_BYTES = 5 * 2 ** 20;
/** Fewer than S3 gives, so that tests need not make a thousand. */
const ITEMS_PER_ANSWER = 20;
const XMLNS = { xmlns: 'http://s3.amazonaws.com/doc/2006-03-01/' };
const noSuchUpload = () => new S3Error('NoSuchUpload', 'The specified multipart upload does not exist.');

class CompleteStore extends FilesystemStore {
  uploadFolder(bucket: string, uploadId = ''): string {
    return join(this.getResourcePath(bucket, undefined, 'uploads'), uploadId);
  }

  async requireUpload(bucket: string, uploadId: string): Promise<string> {
    const folder = this.uploadFolder(bucket, uploadId);
    await access(join(folder, 'key')).catch(() => {
      throw noSuchUpload();
    });
    return folder;
  }

  override async putContent(path: string, content: unknown): Promise<[number, string]> {
    const unfinished = `${path}.${randomUUID()}`;
    try {
      const written = await super.putContent(unfinished, content);
      await rename(unfinished, path);
      return written;
    } catch (error) {
      await rm(unfinished, { force: true });
      throw error;
    }
  }

  /** A server that is killed while it writes this must not fail over half of it for ever. */
  override async putMetadata(bucket: string, key: string, metadata: object, md5?: string): Promise<void> {
    const unfinished = `${key}.${randomUUID()}`;
    await super.putMetadata(bucket, unfinished, metadata, md5);
    for (const resource of [...(md5 ? ['object.md5'] : []), 'metadata.json']) {
      await rename(this.getResourcePath(bucket, unfinished, resource), this.getResourcePath(bucket, key, resource));
    }
  }

  /** s3rver takes an `end` of 0 for none, and finds a byte in an empty object. */
  override async getObject(bucket: string, key: string, range: Range = {}): Promise<StoredObject | null> {
    const whole = range.start === undefined && range.end === undefined;
    const object = await super.getObject(bucket, key, { ...range, end: range.end === 0 ? 1 : range.end });
    if (whole || !object?.content) return object;
    if (object.size > 0 && range.end !== 0) return object;
    object.content.destroy();
    object.range = { start: 0, end: 0 };
    object.content =
      object.size > 0 ? createReadStream(this.getResourcePath(bucket, key, 'object'), { end: 0 }) : undefined;
    return object;
  }

  async putPart(bucket: string, uploadId: string, partNumber: string, content: unknown): Promise<Written> {
    const path = join(await this.requireUpload(bucket, uploadId), String(Number(partNumber)));
    try {
      const [size, md5] = await this.putContent(path, content);
      await writeFile(`${path}.md5`, md5);
      return { size, md5 };
    } catch (error) {
      // Aborted in the meantime?
      await this.requireUpload(bucket, uploadId);
      throw error;
    }
  }

  override async putObjectMultipart(bucket: string, uploadId: string, parts: Part[]): Promise<Written> {
    const folder = await this.requireUpload(bucket, uploadId);
    for (const [index, { number, etag }] of parts.entries()) {
      const path = join(folder, String(number));
      const md5 = await readFile(`${path}.md5`, 'utf8').catch(() => undefined);
      if (md5 !== etag) throw new S3Error('InvalidPart', 'One of the parts could not be found or differs.');
      if (index < parts.length - 1 && (await stat(path)).size < MIN_PART_BYTES) {
        throw new S3Error('EntityTooSmall', 'A part but the last one is too small.');
      }
    }
    const key = await readFile(join(folder, 'key'), 'utf8');
    await mkdir(join(this.getResourcePath(bucket, key, 'object'), '..'), { recursive: true });
    return super.putObjectMultipart(bucket, uploadId, parts);
  }

  async abortUpload(bucket: string, uploadId: string): Promise<void> {
    await rm(await this.requireUpload(bucket, uploadId), { recursive: true });
  }

  async uploads(bucket: string): Promise<{ Key: string; UploadId: string }[]> {
    const ids = await readdir(this.uploadFolder(bucket)).catch(() => []);
    const found = ids.map(async (UploadId) => ({
      UploadId,
      Key: await readFile(join(this.uploadFolder(bucket, UploadId), 'key'), 'utf8').catch(() => ''),
    }));
    const uploads = (await Promise.all(found)).filter(({ Key }) => Key !== '');
    return uploads.sort((a, b) => (orderOf(a) < orderOf(b) ? -1 : 1));
  }
}

const orderOf = (upload: { Key: string; UploadId: string }) => `${upload.Key} ${upload.UploadId}`;

async function listUploads(store: CompleteStore, bucket: string, query: Context['query']): Promise<object> {
  const after = `${query['key-marker'] ?? ''} ${query['upload-id-marker'] ?? ''}`;
  const matching = (await store.uploads(bucket)).filter(
    (upload) => upload.Key.startsWith(query.prefix ?? '') && orderOf(upload) > after,
  );
  const page = matching.slice(0, ITEMS_PER_ANSWER);
  const last = page.at(-1);
  const truncated = matching.length > page.length;
  return {
    ListMultipartUploadsResult: {
      '@': XMLNS,
      Bucket: bucket,
      IsTruncated: truncated,
      ...(truncated && { NextKeyMarker: last?.Key, NextUploadIdMarker: last?.UploadId }),
      Upload: page,
    },
  };
}

async function listObjects(store: CompleteStore, bucket: string, query: Context['query']): Promise<object> {
  const { objects, isTruncated } = await store.listObjects(bucket, {
    prefix: query.prefix ?? '',
    startAfter: query['continuation-token'] ?? query['start-after'] ?? '',
    maxKeys: ITEMS_PER_ANSWER,
  });
  return {
    ListBucketResult: {
      '@': XMLNS,
      Name: bucket,
      KeyCount: objects.length,
      IsTruncated: isTruncated,
      ...(isTruncated && { NextContinuationToken: objects.at(-1)?.key }),
      Contents: objects.map(({ key, size, lastModifiedDate }) => ({
        Key: key,
        Size: size,
        LastModified: lastModifiedDate.toISOString(),
      })),
    },
  };
}

function listing(query: Context['query']): typeof listObjects | undefined {
  if ('uploads' in query) return listUploads;
  return query['list-type'] === '2' ? listObjects : undefined;
}

function whatIsLacking(store: CompleteStore): Middleware {
  return async (ctx, next) => {
    const [bucket = '', ...rest] = ctx.path.slice(1).split('/').map(decodeURIComponent);
    const key = rest.join('/');
    const list = ctx.method === 'GET' && key === '' ? listing(ctx.query) : undefined;
    const aborting = ctx.method === 'DELETE' && key !== '' && 'uploadId' in ctx.query;
    if (!list && !aborting) return next();
    if (!(await store.getBucket(bucket))) throw new S3Error('NoSuchBucket', 'There is no such bucket.');
    if (list) {
      ctx.body = await list(store, bucket, ctx.query);
      return;
    }
    await store.abortUpload(bucket, ctx.query.uploadId ?? '');
    ctx.status = 204;
  };
}

const [, , port = '0', directory = '', bucket = ''] = process.argv;
const server = new S3rver({
  address: '127.0.0.1',
  port: Number(port),
  silent: true,
  directory,
  // The SDK signs a bucket's path with a slash at its end, which s3rver takes away before it compares.
  allowMismatchedSignatures: true,
});
const store = new CompleteStore(directory);
server.store = store;
server.context.store = store;
// Before the router, which comes last.
server.middleware.splice(-1, 0, whatIsLacking(store));
await store.putBucket(bucket);
const { port: listening } = await server.run();
console.log(listening);
// Ends with the process that started it.
process.stdin.resume().on('end', () => process.exit());
