import type { Context } from 'hono';
import { methodNotAllowed } from '#platform/http/errors/errors.ts';
import { hasBody } from '#platform/http/form/body.ts';
import { readTusHeaders } from './tus-headers.ts';
import {
  ALGORITHMS,
  LENGTH_KNOWN,
  NO_OFFSET_STREAM,
  OTHER_OFFSET,
  UPLOAD_TOO_LONG,
  VERSION,
} from './tus-refusals.ts';
import { TusRequest, type TusServices, type Uploads } from './tus-request.ts';

const EXTENSIONS = 'creation,creation-with-upload,creation-defer-length,termination,expiration,checksum';

/** What the protocol does by each method; in quotes, what the specification demands. */
const HANDLERS: Readonly<Record<string, (request: TusRequest) => Promise<Response>>> = {
  POST: createUpload,
  HEAD: readState,
  PATCH: appendToUpload,
  DELETE: terminateUpload,
};

/**
 * Answers a request of tus 1.0.0, https://tus.io/protocols/resumable-upload.
 *
 * @param method as which the request is meant
 * @param id of the upload that it is sent to, if it is sent to one
 * @throws {HttpError} every refusal
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
  // "PATCH requests MUST use Content-Type: application/offset+octet-stream", and so must a creation with bytes.
  if (!headers.isStream && (method === 'PATCH' || (method === 'POST' && bringsBytes(raw))))
    throw NO_OFFSET_STREAM();
  const request = new TusRequest(c, services, uploads, headers, id || uploads.newId);
  const underLock = async () => {
    await using pass = services.gate.open();
    if (headers.isStream) await pass.enter();
    // Found before its writer is asked to let go of it.
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

/** "MUST contain the Tus-Version header. It MAY include the Tus-Extension and Tus-Max-Size headers." */
function describeServer({ maxBytes }: Uploads): Response {
  return answer(204, {
    'Tus-Resumable': VERSION,
    'Tus-Version': VERSION,
    'Tus-Extension': EXTENSIONS,
    'Tus-Max-Size': maxBytes,
    'Tus-Checksum-Algorithm': ALGORITHMS.join(','),
  });
}

/** Creation: "The Server MUST acknowledge a successful upload creation with the 201 Created status and set Location." */
async function createUpload(request: TusRequest): Promise<Response> {
  const { headers, uploads, id } = request;
  const { length, isStream } = headers;
  const upload = await request.create();
  const Location = uploads.address(id);
  if (!isStream) return answer(201, { Location });
  if (headers.contentLength > (length ?? uploads.maxBytes)) throw UPLOAD_TOO_LONG();
  // Of an upload that had begun before, what is sent is its beginning again.
  const offset = upload.offset > 0 ? upload.offset : await request.receive();
  // "If the Server did accept some data, it MUST include the Upload-Offset header in the response."
  return answer(201, { Location, 'Upload-Offset': offset });
}

/** "The Server MUST always include Upload-Offset", Upload-Length if it is known, and the metadata as they were sent. */
async function readState(request: TusRequest): Promise<Response> {
  let upload = await request.find();
  // Its process was killed after the last byte: no other request would complete it, since nothing is left to be sent.
  if (!upload.complete && upload.offset === upload.length) upload = await request.write();
  const { offset, length, metadata } = upload;
  return answer(200, {
    'Upload-Offset': offset,
    // "As long as the length is not known, the Server MUST set Upload-Defer-Length: 1 in all responses to HEAD."
    ...(length === undefined ? { 'Upload-Defer-Length': 1 } : { 'Upload-Length': length }),
    ...(metadata !== '' && { 'Upload-Metadata': metadata }),
  });
}

/** "The Server MUST acknowledge successful PATCH requests with 204 and MUST include Upload-Offset, the new offset." */
async function appendToUpload(request: TusRequest): Promise<Response> {
  const { headers, uploads } = request;
  const upload = await request.find();
  // "If the offsets do not match, the Server MUST respond with 409 without modifying the upload resource."
  if (headers.offset !== upload.offset) throw OTHER_OFFSET();
  const { length = upload.length } = headers;
  // "Once set the length MUST NOT be changed." A client whose line broke declares it again.
  if (length !== undefined && length !== upload.length) {
    if (upload.length !== undefined || length < upload.offset) throw LENGTH_KNOWN();
    await request.declareLength(length);
  }
  if (upload.offset + headers.contentLength > (length ?? uploads.maxBytes)) throw UPLOAD_TOO_LONG();
  return answer(204, { 'Upload-Offset': await request.receive() });
}

/** Termination: "the Server SHOULD free associated resources and MUST respond with the 204 No Content status." */
async function terminateUpload(request: TusRequest): Promise<Response> {
  await request.find();
  await request.discard();
  return answer(204);
}

function answer(status: number, headers: Readonly<Record<string, string | number>> = {}): Response {
  const texts = Object.entries(headers).map(([name, value]) => [name, String(value)] as [string, string]);
  return new Response(null, { status, headers: texts });
}

/** Some clients create uploads by a POST that says nothing of a body, for which Deno's server makes one all the same. */
function bringsBytes(request: Request): boolean {
  const names = ['Content-Length', 'Transfer-Encoding', 'Content-Type'];
  return names.some((name) => request.headers.has(name)) && hasBody(request);
}
