import { createHash } from 'node:crypto';
import type { Context } from 'hono';
import { z } from 'zod';
import { checked } from '#platform/http/endpoint/check.ts';
import type { Principal } from '../principal.ts';

const LENGTH = 255;
/** The form that most clients send. A comma or a blank would mean a repeated header. */
const PLAIN = /^[\x21\x23-\x2b\x2d-\x7e]+$/;
/** A string of RFC 9651, as the draft of the header asks for. */
const QUOTED = /^"((?:[\x20\x21\x23-\x5b\x5d-\x7e]|\\["\\])+)"$/;
const error = `The header Idempotency-Key must be one text of 1 to ${LENGTH} ASCII characters, in quotation marks if it holds blanks or commas.`;

/** The header `Idempotency-Key`; a key means the same with and without quotation marks. */
export const IdempotencyKey = z
  .string({ error })
  .trim()
  .regex(new RegExp(`${PLAIN.source}|${QUOTED.source}`), { error, abort: true })
  .transform((text) => QUOTED.exec(text)?.[1]?.replace(/\\(["\\])/g, '$1') ?? text)
  .refine((key) => key.length <= LENGTH, { error });

/**
 * Reads the header `Idempotency-Key`.
 *
 * @throws {HttpError} 400
 */
export function parseKey(header: string): string {
  return checked(IdempotencyKey, header);
}

/** The content that distinguishes requests to the same resource. */
export interface RequestContent {
  fields: ReadonlyMap<string, string>;
  /** Files in the order of their parts; `sha256` stands for their bytes. */
  files?: readonly { name: string; filename: string; size: number; sha256: string }[];
}

/** A digest of a request: its method, its path and its content. The order of form fields does not matter. */
export function fingerprint(c: Context, { fields, files = [] }: RequestContent): string {
  return digest([
    c.req.method,
    c.req.path.replace(/\/+$/, ''),
    [...fields].sort(([a], [b]) => (a < b ? -1 : 1)),
    files.map(({ name, filename, size, sha256 }) => [name, filename, size, sha256]),
  ]);
}

/** A digest of the sender of a request: the account that signed in, and the user it acts as. */
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
