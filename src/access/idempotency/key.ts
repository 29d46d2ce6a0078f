import { z } from 'zod';
import { checked } from '#platform/http/endpoint/check.ts';

const LENGTH = 255;
/** As most clients send it. A comma or a blank would be a sign of a repeated header. */
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
