import { Metadata } from '@tus/server';
import type { MiddlewareHandler } from 'hono';
import { parseChecksum } from './checksum.ts';
import {
  BAD_LENGTH,
  BAD_METADATA,
  BAD_NUMBER,
  LENGTH_TOO_LARGE,
  NO_CONCATENATION,
  VERSION,
  WRONG_VERSION,
} from './tus-refusals.ts';

/** What answers tell in headers: browsers show them to pages of other sites only when they are listed. */
export const TUS_EXPOSED = [
  ...['Tus-Resumable', 'Tus-Version', 'Tus-Extension', 'Tus-Max-Size', 'Tus-Checksum-Algorithm'],
  ...['Upload-Offset', 'Upload-Length', 'Upload-Defer-Length', 'Upload-Metadata', 'Upload-Expires'],
];
const MOST_METADATA = 8192;

/** Every answer tells the version of the protocol, refusals by other layers included, and is nobody's to keep. */
export function speakTus(): MiddlewareHandler {
  return async (c, next) => {
    await next();
    if (c.req.method !== 'OPTIONS') c.res.headers.set('Tus-Resumable', VERSION);
    c.res.headers.set('Cache-Control', 'no-store');
  };
}

/**
 * Reads what the protocol has in headers. What proxies and browsers add stays out of it.
 *
 * @param method as which the request is meant
 * @returns what the protocol's library is to see
 * @throws {HttpError} 400, 412 and 413
 */
export function readTusHeaders(method: string, given: Headers, maxBytes: number): Headers {
  if (given.get('Tus-Resumable') !== VERSION) throw WRONG_VERSION();
  const headers = new Headers({ 'Tus-Resumable': VERSION });
  if (method !== 'POST' && method !== 'PATCH') return headers;
  if (given.has('Upload-Concat')) throw NO_CONCATENATION();
  parseChecksum(given.get('Upload-Checksum') ?? undefined);
  for (const name of ['Content-Type', 'Content-Length']) keep(headers, name, given.get(name));
  keep(headers, 'Upload-Length', lengthIn(given, maxBytes));
  if (method === 'PATCH') {
    keep(headers, 'Upload-Offset', numberIn(given, 'Upload-Offset') ?? noOffset());
  } else {
    const deferred = given.get('Upload-Defer-Length');
    if (deferred !== null && deferred !== '1') throw BAD_LENGTH();
    if ((deferred === null) !== headers.has('Upload-Length')) throw BAD_LENGTH();
    keep(headers, 'Upload-Defer-Length', deferred);
    keep(headers, 'Upload-Metadata', metadataIn(given));
  }
  return headers;
}

function lengthIn(given: Headers, maxBytes: number): string | null {
  const length = numberIn(given, 'Upload-Length');
  if (Number(length) > maxBytes) throw LENGTH_TOO_LARGE(maxBytes);
  return length;
}

/** As short as it can be written. */
function numberIn(given: Headers, name: string): string | null {
  const value = given.get(name);
  if (value === null) return null;
  if (!/^\d+$/.test(value)) throw BAD_NUMBER(name);
  const number = Number(value);
  // Whatever is larger is more than anything here has.
  return String(Math.min(number, Number.MAX_SAFE_INTEGER));
}

function noOffset(): never {
  throw BAD_NUMBER('Upload-Offset');
}

/** Without the blanks that some clients put after commas. */
function metadataIn(given: Headers): string | null {
  const text = given.get('Upload-Metadata')?.trim();
  if (!text) return null;
  const plain = text
    .split(',')
    .map((pair) => pair.trim())
    .join();
  try {
    if (text.length > MOST_METADATA) throw new Error('It is too long.');
    Metadata.parse(plain);
  } catch {
    throw BAD_METADATA(MOST_METADATA);
  }
  return plain;
}

/** What `Upload-Metadata` says that was let pass. @param sent empty for none */
export function readMetadata(sent: string): Readonly<Record<string, string | null>> {
  const plain = metadataIn(new Headers({ 'Upload-Metadata': sent }));
  return plain === null ? {} : Metadata.parse(plain);
}

function keep(headers: Headers, name: string, value: string | null): void {
  if (value !== null) headers.set(name, value);
}
