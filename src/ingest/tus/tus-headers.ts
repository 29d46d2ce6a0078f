import { createHash, type Hash } from 'node:crypto';
import type { MiddlewareHandler } from 'hono';
import {
  ALGORITHMS,
  BAD_CHECKSUM,
  BAD_LENGTH,
  BAD_METADATA,
  BAD_NUMBER,
  LENGTH_TOO_LARGE,
  NO_CONCATENATION,
  OFFSET_STREAM,
  VERSION,
  WRONG_VERSION,
} from './tus-refusals.ts';

/** The headers of answers that pages of other sites may read. */
export const TUS_EXPOSED = [
  ...['Tus-Resumable', 'Tus-Version', 'Tus-Extension', 'Tus-Max-Size', 'Tus-Checksum-Algorithm'],
  ...['Upload-Offset', 'Upload-Length', 'Upload-Defer-Length', 'Upload-Metadata', 'Upload-Expires'],
];
const MOST_METADATA = 8192;

/** `Upload-Metadata`, decoded; null for a key without a value. */
export type Metadata = Readonly<Record<string, string | null>>;

/** `Upload-Checksum`: the hash to feed with the bytes, and its digest in Base64. */
export interface Checksum {
  hash: Hash;
  expected: string;
}

/** The headers that the protocol gives a request; lengths in bytes. */
export interface TusHeaders {
  offset?: number;
  length?: number | undefined;
  metadata: Metadata;
  /** `Upload-Metadata` as it was sent. */
  sent: string;
  checksum?: Checksum | undefined;
  /** Says how long the body is; 0 for one that says nothing of it. */
  contentLength: number;
  /** Whether the body holds bytes of the upload. */
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

/**
 * Reads the headers of a request.
 *
 * @param method as which the request is meant
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
  const read = { ...none, length, checksum, contentLength, isStream };
  if (method === 'PATCH') {
    const offset = readNumber(headers, 'Upload-Offset');
    if (offset === undefined) throw BAD_NUMBER('Upload-Offset');
    return { ...read, offset };
  }
  // The Client MUST set either Upload-Length or Upload-Defer-Length: 1.
  const deferred = headers.get('Upload-Defer-Length');
  if (deferred !== (length === undefined ? '1' : null)) throw BAD_LENGTH();
  const sent = headers.get('Upload-Metadata')?.trim() ?? '';
  return { ...read, metadata: readMetadata(sent), sent };
}

function readNumber(headers: Headers, name: string): number | undefined {
  const value = headers.get(name);
  if (value === null) return undefined;
  if (!/^\d+$/.test(value)) throw BAD_NUMBER(name);
  return Number(value);
}

/** Reads `Upload-Metadata`, empty for none. @throws {HttpError} 400 */
export function readMetadata(sent: string): Metadata {
  const text = sent.trim();
  const metadata: Record<string, string | null> = {};
  if (text.length > MOST_METADATA) throw BAD_METADATA(MOST_METADATA);
  for (const pair of text === '' ? [] : text.split(',')) {
    // A key MUST NOT contain spaces and commas, and MUST NOT be empty. Some clients put a space after the comma.
    const [, key, value] = /^([!-+\--~]+)(?: ([A-Za-z\d+/]*={0,2}))?$/.exec(pair.trim()) ?? [];
    // All keys MUST be unique. What every object has is no key either.
    if (!key || key in metadata || (value && value.length % 4 !== 0)) throw BAD_METADATA(MOST_METADATA);
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
