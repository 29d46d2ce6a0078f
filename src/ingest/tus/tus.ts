import type { Context } from 'hono';
import { methodNotAllowed } from '#platform/http/errors/errors.ts';
import { hasBody } from '#platform/http/form/body.ts';
import {
  ALGORITHMS,
  LENGTH_KNOWN,
  NO_OFFSET_STREAM,
  OTHER_OFFSET,
  readTusHeaders,
  UPLOAD_TOO_LONG,
  VERSION,
} from './tus-headers.ts';
import { TusRequest, type TusServices, type Uploads } from './tus-request.ts';

const EXTENSIONS = 'creation,creation-with-upload,creation-defer-length,termination,expiration,checksum';

/** The methods of the protocol. Comments with MUST and SHOULD quote its specification. */
const HANDLERS: Readonly<Record<string, (request: TusRequest) => Promise<Response>>> = {
  POST: createUpload,
  HEAD: readState,
  PATCH: appendToUpload,
  DELETE: terminateUpload,
};

/**
 * Answers a request of tus 1.0.0, https://tus.io/protocols/resumable-upload.
 *
 * @param method the method after `X-HTTP-Method-Override`
 * @param id the upload in the URL of the request, if any
 * @throws {HttpError}
 */
export async function answerTusRequest(
  method: string,
  c: Context,
  services: TusServices,
  uploads: Uploads,
  id = '',
): Promise<Response> {
  if (method === 'OPTIONS') return describeServer(uploads);
  const handle = HANDLERS[method];
  if (!handle) throw methodNotAllowed(Object.keys(HANDLERS));
  const { raw } = c.req;
  const headers = readTusHeaders(method, raw.headers, uploads.maxBytes);
  // PATCH requests and creations with bytes MUST use application/offset+octet-stream.
  if (!headers.isStream && (method === 'PATCH' || (method === 'POST' && bringsBytes(raw)))) throw NO_OFFSET_STREAM();
  const request = new TusRequest(c, services, uploads, headers, id || uploads.newId);
  const underLock = async () => {
    await using pass = services.gate.open();
    if (headers.isStream) await pass.enter();
    // Before the lock is requested, which interrupts the present writer.
    if (id) await uploads.find(id);
    await using _lock = await request.lock();
    return await handle(request);
  };
  try {
    return await request.finish(await underLock());
  } catch (error) {
    return await request.fail(error);
  }
}

/** MUST contain Tus-Version, MAY contain Tus-Extension and Tus-Max-Size. */
function describeServer({ maxBytes }: Uploads): Response {
  return answer(204, {
    'Tus-Resumable': VERSION,
    'Tus-Version': VERSION,
    'Tus-Extension': EXTENSIONS,
    'Tus-Max-Size': maxBytes,
    'Tus-Checksum-Algorithm': ALGORITHMS.join(','),
  });
}

/** Creates an upload. The Server MUST answer 201 and MUST set Location to the URL of the upload. */
async function createUpload(request: TusRequest): Promise<Response> {
  const { headers, uploads, id } = request;
  const { length, isStream } = headers;
  const upload = await request.create();
  const Location = uploads.address(id);
  if (!isStream) return answer(201, { Location });
  if (headers.contentLength > (length ?? uploads.maxBytes)) throw UPLOAD_TOO_LONG();
  // If the upload existed already, the body repeats its beginning.
  const offset = upload.offset > 0 ? upload.offset : await request.receive();
  // If bytes came with the creation, the response MUST include Upload-Offset.
  return answer(201, { Location, 'Upload-Offset': offset });
}

/** Reads the state. MUST include Upload-Offset, Upload-Length if known, and the metadata as sent. */
async function readState(request: TusRequest): Promise<Response> {
  let upload = await request.find();
  // Its process was killed after the last byte: no PATCH request follows that would complete it.
  if (!upload.complete && upload.offset === upload.length) upload = await request.write();
  const { offset, length, metadata } = upload;
  return answer(200, {
    'Upload-Offset': offset,
    // While the length is unknown, MUST set Upload-Defer-Length: 1.
    ...(length === undefined ? { 'Upload-Defer-Length': 1 } : { 'Upload-Length': length }),
    ...(metadata !== '' && { 'Upload-Metadata': metadata }),
  });
}

/** Appends bytes. The Server MUST answer 204 and MUST include Upload-Offset, the new offset. */
async function appendToUpload(request: TusRequest): Promise<Response> {
  const { headers, uploads } = request;
  const upload = await request.find();
  // If the offsets do not match, MUST answer 409 without modifying the upload.
  if (headers.offset !== upload.offset) throw OTHER_OFFSET();
  const { length = upload.length } = headers;
  // Once set, the length MUST NOT be changed. A client that was disconnected may declare it again.
  if (length !== undefined && length !== upload.length) {
    if (upload.length !== undefined || length < upload.offset) throw LENGTH_KNOWN();
    await request.declareLength(length);
  }
  if (upload.offset + headers.contentLength > (length ?? uploads.maxBytes)) throw UPLOAD_TOO_LONG();
  return answer(204, { 'Upload-Offset': await request.receive() });
}

/** Terminates an upload. The Server SHOULD free its resources and MUST answer 204. */
async function terminateUpload(request: TusRequest): Promise<Response> {
  await request.find();
  await request.discard();
  return answer(204);
}

function answer(status: number, headers: Readonly<Record<string, string | number>> = {}): Response {
  const texts = Object.entries(headers).map(([name, value]) => [name, String(value)] as [string, string]);
  // An empty body is sent with Content-Length: 0; a null body would be sent chunked.
  return new Response(status === 204 ? null : '', { status, headers: texts });
}

/** True if a POST request has a body. Deno gives one to requests without a body as well, so headers must confirm it. */
function bringsBytes(request: Request): boolean {
  const names = ['Content-Length', 'Transfer-Encoding', 'Content-Type'];
  return names.some((name) => request.headers.has(name)) && hasBody(request);
}
