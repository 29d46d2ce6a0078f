import { createHash } from 'node:crypto';
import type { Context } from 'hono';
import { z } from 'zod';
import { parseInput } from '#platform/http/endpoint/check.ts';
import type { Principal } from '../principal.ts';

const LENGTH = 255;
/** The unquoted form. It excludes commas and blanks, which would mean a repeated header. */
const PLAIN = /^[\x21\x23-\x2b\x2d-\x7e]+$/;
/** The quoted form: a string of RFC 9651, as the draft of the header requires. */
const QUOTED = /^"((?:[\x20\x21\x23-\x5b\x5d-\x7e]|\\["\\])+)"$/;
const error = `The header Idempotency-Key must be 1 to ${LENGTH} ASCII characters, in quotation marks if it contains blanks or commas.`;

/** The header `Idempotency-Key`; quotation marks are not part of the key. */
export const IdempotencyKey = z
  .string({ error })
  .trim()
  .regex(new RegExp(`${PLAIN.source}|${QUOTED.source}`), { error, abort: true })
  .transform((text) => QUOTED.exec(text)?.[1]?.replace(/\\(["\\])/g, '$1') ?? text)
  .refine((key) => key.length <= LENGTH, { error });

export function parseKey(header: string): string {
  return parseInput(IdempotencyKey, header);
}

/** The request content that the fingerprint covers. */
export interface RequestContent {
  fields: ReadonlyMap<string, string>;
  files?: readonly { name: string; filename: string; size: number; sha256: string }[];
}

/** Returns a digest of method, path and content. The order of form fields does not matter. */
export function fingerprint(c: Context, { fields, files = [] }: RequestContent): string {
  return digest([
    c.req.method,
    c.req.path.replace(/\/+$/, ''),
    [...fields].sort(([a], [b]) => (a < b ? -1 : 1)),
    files.map(({ name, filename, size, sha256 }) => [name, filename, size, sha256]),
  ]);
}

/** Returns a digest of the account and of the user it acts as. */
export function sender(c: Context): string {
  const { account, principal, signedIn } = c.var;
  return digest([signedIn?.provider ?? '', account ?? '', principal === signedIn ? null : effective(principal)]);
}

function effective({ username, roles }: Principal) {
  return [username, [...roles].sort()];
}

function digest(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('hex');
}
