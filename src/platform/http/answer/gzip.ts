import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { Context } from 'hono';

/** Compresses an answer. */
export const compress = promisify(gzip);

/** Returns true if a client takes answers compressed by gzip. */
export function takesGzip(c: Context): boolean {
  return /\bgzip\b(?!\s*;\s*q=0(?:\.0*)?(?:,|$))/.test(c.req.header('Accept-Encoding') ?? '');
}
