import { badRequest } from '../http/errors.ts';

const LENGTH = 255;
/** As most clients send it. A comma or a blank would be a sign of a repeated header. */
const PLAIN = /^[\x21\x23-\x2b\x2d-\x7e]+$/;
/** A string of RFC 9651, as the draft of the header asks for. */
const QUOTED = /^"((?:[\x20\x21\x23-\x5b\x5d-\x7e]|\\["\\])+)"$/;

/**
 * Reads the header `Idempotency-Key`; a key means the same with and without quotation marks.
 *
 * @throws {HttpError} 400
 */
export function parseKey(header: string): string {
  const text = header.trim();
  const key = PLAIN.test(text) ? text : QUOTED.exec(text)?.[1]?.replace(/\\(["\\])/g, '$1');
  if (key !== undefined && key.length <= LENGTH) return key;
  throw badRequest(
    `The header Idempotency-Key must be one text of 1 to ${LENGTH} ASCII characters, in quotation marks if it holds blanks or commas.`,
  );
}
