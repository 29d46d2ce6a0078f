/**
 * An S3 server that costs little, so that what is measured is who sends: each part is a file and durable before it is
 * answered, an object is a list of such files, and nothing is joined, encrypted or checked. Its index is in memory. A
 * process of its own, answering tasks with its port (see `helper-process.ts`); the argument is its folder.
 */
import { randomUUID } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { serveTasks } from '../support/helper-process.ts';
import { listen } from '../support/listen.ts';

export interface StoreTask {
  /** All objects. */
  forget?: boolean;
}
interface Blob {
  path: string;
  bytes: number;
  etag: string;
}
interface StoredObject {
  blobs: Blob[];
  metadata: [string, string][];
}
interface MultipartUpload extends Omit<StoredObject, 'blobs'> {
  key: string;
  parts: Map<number, Blob>;
}
interface Call {
  key: string;
  query: URLSearchParams;
  request: IncomingMessage;
  response: ServerResponse;
}

const [, , folder = ''] = process.argv;
const objects = new Map<string, StoredObject>();
const uploads = new Map<string, MultipartUpload>();
const bytesOf = (blobs: Iterable<Blob>) => [...blobs].reduce((sum, { bytes }) => sum + bytes, 0);

const server = createServer((request, response) => {
  const { pathname, searchParams: query } = new URL(request.url ?? '/', 'http://s3');
  const [, , ...rest] = pathname.split('/');
  answer({ key: decodeURIComponent(rest.join('/')), query, request, response }).catch((error) => {
    if (!request.destroyed) console.error(error);
    response.destroy();
  });
});
const port = await listen(server);
await serveTasks(async ({ forget }: StoreTask) => {
  if (forget) for (const key of objects.keys()) await remove(key);
  return { port };
});
process.exit();

async function answer(call: Call): Promise<void> {
  const { key, query, request, response } = call;
  const method = request.method ?? '';
  if (request.headers['content-encoding']?.includes('aws-chunked')) return fail(response, 501, 'NotImplemented');
  if (key === '') return answerBucket(call, method);
  if (query.has('uploads')) return begin(call);
  const id = query.get('uploadId');
  if (id !== null) return answerMultipart(call, method, id);
  if (method === 'PUT') return put(call);
  if (method === 'DELETE') {
    await remove(key);
    return void response.writeHead(204).end();
  }
  await get(call, method);
}

async function answerBucket({ query, request, response }: Call, method: string): Promise<void> {
  if (method === 'POST' && query.has('delete')) {
    for (const [, key = ''] of (await text(request)).matchAll(/<Key>([^<]*)<\/Key>/g)) await remove(key);
    return xml(response, '<DeleteResult/>');
  }
  if (method === 'HEAD') return void response.end();
  const matching = (key: string) => key.startsWith(query.get('prefix') ?? '');
  if (query.has('uploads')) {
    const found = [...uploads].filter(([, { key }]) => matching(key));
    const items = found.map(([id, { key }]) => `<Upload><Key>${key}</Key><UploadId>${id}</UploadId></Upload>`);
    return xml(response, `<ListMultipartUploadsResult>${items.join('')}</ListMultipartUploadsResult>`);
  }
  const items = [...objects].filter(([key]) => matching(key));
  const contents = items.map(
    ([key, { blobs }]) => `<Contents><Key>${key}</Key><Size>${bytesOf(blobs)}</Size></Contents>`,
  );
  return xml(response, `<ListBucketResult>${contents.join('')}</ListBucketResult>`);
}

async function begin({ key, request, response }: Call): Promise<void> {
  const id = randomUUID();
  uploads.set(id, { key, parts: new Map(), metadata: metadataOf(request) });
  xml(response, `<InitiateMultipartUploadResult><UploadId>${id}</UploadId></InitiateMultipartUploadResult>`);
}

async function answerMultipart({ query, request, response }: Call, method: string, id: string): Promise<void> {
  const upload = uploads.get(id);
  if (!upload) return fail(response, 404, 'NoSuchUpload');
  const { key, parts, metadata } = upload;
  if (method === 'PUT') {
    const number = Number(query.get('partNumber'));
    const before = parts.get(number);
    const blob = await write(request);
    parts.set(number, blob);
    if (before) await rm(before.path);
    return void response.writeHead(200, { ETag: blob.etag }).end();
  }
  if (method === 'GET') {
    const items = [...parts].map(
      ([number, { etag, bytes }]) =>
        `<Part><PartNumber>${number}</PartNumber><ETag>${etag}</ETag><Size>${bytes}</Size></Part>`,
    );
    return xml(response, `<ListPartsResult>${items.join('')}</ListPartsResult>`);
  }
  if (method === 'POST') {
    const named = [...(await text(request)).matchAll(/<PartNumber>(\d+)<\/PartNumber>/g)];
    const blobs = named.map(([, number]) => parts.get(Number(number)));
    if (!blobs.every((blob) => blob !== undefined)) return fail(response, 400, 'InvalidPart');
    uploads.delete(id);
    await remove(key);
    objects.set(key, { blobs, metadata });
    const result = 'CompleteMultipartUploadResult';
    return xml(response, `<${result}><Key>${key}</Key><ETag>"${id}"</ETag></${result}>`);
  }
  uploads.delete(id);
  for (const { path } of parts.values()) await rm(path);
  response.writeHead(204).end();
}

async function put({ key, request, response }: Call): Promise<void> {
  const blob = await write(request);
  await remove(key);
  objects.set(key, { blobs: [blob], metadata: metadataOf(request) });
  response.writeHead(200, { ETag: blob.etag }).end();
}

async function get({ key, request, response }: Call, method: string): Promise<void> {
  const object = objects.get(key);
  if (!object) return fail(response, 404, method === 'HEAD' ? undefined : 'NoSuchKey');
  const { blobs, metadata } = object;
  const size = bytesOf(blobs);
  const [, from = 0, to = size - 1] = (/^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? '') ?? []).map(Number);
  const end = Math.min(to, size - 1);
  response.writeHead(request.headers.range ? 206 : 200, {
    'Content-Length': end - from + 1,
    'Content-Range': `bytes ${from}-${end}/${size}`,
    ...Object.fromEntries(metadata),
  });
  if (method === 'HEAD') return void response.end();
  const content = async function* () {
    let at = 0;
    for (const { path, bytes } of blobs) {
      if (at <= end && at + bytes > from) {
        yield* createReadStream(path, { start: Math.max(0, from - at), end: Math.min(bytes - 1, end - at) });
      }
      at += bytes;
    }
  };
  await pipeline(Readable.from(content()), response);
}

async function write(request: IncomingMessage): Promise<Blob> {
  const name = randomUUID();
  const path = join(folder, name);
  const file = createWriteStream(path, { flags: 'wx', flush: true, highWaterMark: 2 ** 20 });
  try {
    await pipeline(request, file);
  } catch (error) {
    await rm(path, { force: true });
    throw error;
  }
  return { path, bytes: file.bytesWritten, etag: `"${name}"` };
}

async function remove(key: string): Promise<void> {
  const { blobs = [] } = objects.get(key) ?? {};
  objects.delete(key);
  for (const { path } of blobs) await rm(path);
}

function metadataOf({ headers }: IncomingMessage): [string, string][] {
  return Object.entries(headers).filter(
    (header): header is [string, string] => header[0].startsWith('x-amz-meta-') && typeof header[1] === 'string',
  );
}

function xml(response: ServerResponse, body: string): void {
  response.writeHead(200, { 'Content-Type': 'application/xml' }).end(`<?xml version="1.0"?>\n${body}`);
}

function fail(response: ServerResponse, status: number, code: string | undefined): void {
  response.writeHead(status, { 'Content-Type': 'application/xml', Connection: 'close' });
  response.end(code && `<?xml version="1.0"?>\n<Error><Code>${code}</Code></Error>`);
}
