import { createHash, type Hash } from 'node:crypto';
import type { MiddlewareHandler } from 'hono';
import { refusal } from '#platform/http/errors/errors.ts';
import { hasBody } from '#platform/http/form/request-body.ts';
import { UPLOAD_REFUSALS } from '../upload-failures.ts';

/** The methods of the protocol. */
export type TusMethod = 'OPTIONS' | 'POST' | 'HEAD' | 'PATCH' | 'DELETE';

const VERSION = '1.0.0';
const OFFSET_STREAM = 'application/offset+octet-stream';
const ALGORITHMS: readonly string[] = ['sha1', 'sha256', 'sha512', 'md5'];
const EXTENSIONS = 'creation,creation-with-upload,creation-defer-length,termination,expiration,checksum';
const MOST_METADATA = 8192;
const CLOSE = { Connection: 'close' };

const WRONG_VERSION = refusal(412, `Tus-Resumable must be ${VERSION}.`, [], { 'Tus-Version': VERSION });
export const NO_OFFSET_STREAM = refusal(415, `The content type must be ${OFFSET_STREAM}.`, [], CLOSE);
const BAD_NUMBER = refusal(400, (header: string) => `${header} must be a whole number of bytes, such as 1048576.`, [
  'Upload-Offset',
]);
const BAD_LENGTH = refusal(400, 'Either Upload-Length or Upload-Defer-Length: 1 is required.');
export const LENGTH_KNOWN = refusal(400, 'Upload-Length must not change and must not be less than Upload-Offset.');
const BAD_METADATA = refusal(
  400,
  `Upload-Metadata must be a comma-separated list of unique keys, each followed by a space and its value in Base64, of at most ${MOST_METADATA} characters.`,
);
export const BAD_FLAVOR = refusal(
  400,
  "The 'flavor' in Upload-Metadata must have the form type/subtype, such as presenter/source.",
);
const NO_CONCATENATION = refusal(400, 'Upload-Concat is not supported: send the file as one upload.');
const BAD_CHECKSUM = refusal(
  400,
  `Upload-Checksum must be one of ${ALGORITHMS.join(', ')}, a space, and the checksum in Base64.`,
);
// tus defines status 460, which no table of statuses has.
export const CHECKSUM_MISMATCH = refusal(460 as 400, 'The bytes do not match Upload-Checksum and were discarded.');
export const BAD_OVERRIDE = refusal(
  405,
  'A POST to an upload needs the header X-HTTP-Method-Override with the value PATCH or DELETE.',
  [],
  { Allow: 'GET, HEAD, PATCH, DELETE' },
);
export const OTHER_OFFSET = refusal(409, 'Upload-Offset must equal the offset that HEAD returns.');
export const UPLOAD_GONE = refusal(410, 'The upload no longer exists.');
export const UPLOAD_LOCKED = refusal(423, 'Another request is writing to the upload. Try again.');
export const UPLOAD_TOO_LONG = refusal(413, 'Received more bytes than Upload-Length or Tus-Max-Size.', [], CLOSE);
const LENGTH_TOO_LARGE = refusal(
  413,
  (bytes: number) => `Upload-Length must be at most ${bytes}.`,
  [100 * 2 ** 30],
  CLOSE,
);
/** Refusals of every request to an upload. */
export const TUS_REFUSALS = [WRONG_VERSION, UPLOAD_LOCKED, UPLOAD_GONE];
const BYTE_REFUSALS = [
  ...[WRONG_VERSION, BAD_NUMBER, NO_CONCATENATION, BAD_CHECKSUM, CHECKSUM_MISMATCH, NO_OFFSET_STREAM],
  ...[UPLOAD_TOO_LONG, LENGTH_TOO_LARGE, ...UPLOAD_REFUSALS],
];
export const TUS_CREATION_REFUSALS = [BAD_LENGTH, BAD_METADATA, ...BYTE_REFUSALS];
export const TUS_APPEND_REFUSALS = [OTHER_OFFSET, LENGTH_KNOWN, ...BYTE_REFUSALS];

/** The headers of answers that pages of other sites may read. */
export const TUS_EXPOSED = [
  ...['Tus-Resumable', 'Tus-Version', 'Tus-Extension', 'Tus-Max-Size', 'Tus-Checksum-Algorithm'],
  ...['Upload-Offset', 'Upload-Length', 'Upload-Defer-Length', 'Upload-Metadata', 'Upload-Expires'],
];

/** `Upload-Metadata`, decoded; null for a key without a value. */
type Metadata = Readonly<Record<string, string | null>>;

/** `Upload-Checksum`: the hash to feed with the bytes, and its digest in Base64. */
export interface Checksum {
  hash: Hash;
  expected: string;
}

/** The headers of a request; lengths in bytes. */
export interface TusHeaders {
  offset?: number;
  length?: number | undefined;
  metadata: Metadata;
  /** `Upload-Metadata` as it was sent. */
  sent: string;
  checksum?: Checksum | undefined;
  /** The declared length of the body; 0 if it is not declared. */
  contentLength: number;
  /** True if the body holds bytes of the upload. */
  isStream: boolean;
}

/** Sets the headers of every answer, refusals of other layers included. */
export function tusHeaders(): MiddlewareHandler {
  return async (c, next) => {
    await next();
    // MUST be included in every response except to OPTIONS requests.
    if (c.req.method !== 'OPTIONS') c.res.headers.set('Tus-Resumable', VERSION);
    // The Server MUST prevent clients and proxies from caching the response.
    c.res.headers.set('Cache-Control', 'no-store');
  };
}

/** Returns the method in `X-HTTP-Method-Override`, for clients that can only send POST. @throws {HttpError} 405 for others */
export function overridingMethod(headers: Headers): 'PATCH' | 'DELETE' | undefined {
  const method = headers.get('X-HTTP-Method-Override')?.trim().toUpperCase();
  if (method === undefined || method === 'PATCH' || method === 'DELETE') return method;
  throw BAD_OVERRIDE();
}

/**
 * Reads the headers of a request.
 *
 * @param method the method after `X-HTTP-Method-Override`
 * @throws {HttpError} 400, 412 and 413
 */
export function readTusHeaders(method: string, headers: Headers, maxBytes: number): TusHeaders {
  // For a version that is not supported, MUST answer 412 and MUST NOT process the request.
  if (headers.get('Tus-Resumable') !== VERSION) throw WRONG_VERSION();
  const none = { metadata: {}, sent: '', contentLength: 0, isStream: false };
  if (method !== 'POST' && method !== 'PATCH') return none;
  if (headers.has('Upload-Concat')) throw NO_CONCATENATION();
  const checksum = readChecksum(headers.get('Upload-Checksum'));
  const length = readNumber(headers, 'Upload-Length');
  if (length !== undefined && length > maxBytes) throw LENGTH_TOO_LARGE(maxBytes);
  const contentLength = Number(headers.get('Content-Length') ?? 0);
  const isStream = headers.get('Content-Type') === OFFSET_STREAM;
  const sent = headers.get('Upload-Metadata')?.trim() ?? '';
  const read = { ...none, sent, length, checksum, contentLength, isStream };
  if (method === 'PATCH') {
    const offset = readNumber(headers, 'Upload-Offset');
    if (offset === undefined) throw BAD_NUMBER('Upload-Offset');
    return { ...read, offset };
  }
  // The Client MUST set either Upload-Length or Upload-Defer-Length: 1.
  const deferred = headers.get('Upload-Defer-Length');
  if (deferred !== (length === undefined ? '1' : null)) throw BAD_LENGTH();
  return { ...read, metadata: readMetadata(sent) };
}

function readNumber(headers: Headers, name: string): number | undefined {
  const value = headers.get(name);
  if (value === null) return undefined;
  if (!/^\d+$/.test(value)) throw BAD_NUMBER(name);
  return Number(value);
}

/** Reads `Upload-Metadata`. @throws {HttpError} 400 */
export function readMetadata(sent: string): Metadata {
  const metadata: Record<string, string | null> = {};
  if (sent.length > MOST_METADATA) throw BAD_METADATA();
  for (const pair of sent === '' ? [] : sent.split(',')) {
    // A key MUST NOT contain spaces and commas, and MUST NOT be empty. Some clients put a space after the comma.
    const [, key, value] = /^([!-+\--~]+)(?: ([A-Za-z\d+/]*={0,2}))?$/.exec(pair.trim()) ?? [];
    // All keys MUST be unique. Property names of every object are refused as well.
    if (!key || key in metadata || (value && value.length % 4 !== 0)) throw BAD_METADATA();
    metadata[key] = value ? Buffer.from(value, 'base64').toString() : null;
  }
  return metadata;
}

function readChecksum(header: string | null): Checksum | undefined {
  if (header === null) return undefined;
  const [, algorithm = '', expected = ''] = /^(\S+) ([A-Za-z\d+/]+={0,2})$/.exec(header.trim()) ?? [];
  if (!ALGORITHMS.includes(algorithm)) throw BAD_CHECKSUM();
  return { hash: createHash(algorithm), expected };
}

/** MUST contain Tus-Version, MAY contain Tus-Extension and Tus-Max-Size. */
export function describeServer(maxBytes: number): Response {
  return tusResponse(204, {
    'Tus-Resumable': VERSION,
    'Tus-Version': VERSION,
    'Tus-Extension': EXTENSIONS,
    'Tus-Max-Size': maxBytes,
    'Tus-Checksum-Algorithm': ALGORITHMS.join(','),
  });
}

export function tusResponse(status: number, headers: Readonly<Record<string, string | number>> = {}): Response {
  const texts = Object.entries(headers).map(([name, value]) => [name, String(value)] as [string, string]);
  // An empty body is sent with Content-Length: 0; a null body would be sent chunked.
  return new Response(status === 204 ? null : '', { status, headers: texts });
}

/** True if a POST request has a body. Deno gives one to requests without a body as well, so headers must confirm it. */
export function bringsBytes(request: Request): boolean {
  const names = ['Content-Length', 'Transfer-Encoding', 'Content-Type'];
  return names.some((name) => request.headers.has(name)) && hasBody(request);
}
