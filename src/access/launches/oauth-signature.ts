import { createHmac, timingSafeEqual } from 'node:crypto';

/** The hashes of signature methods that platforms use. */
const HASHES: Readonly<Record<string, string>> = { 'HMAC-SHA1': 'sha1', 'HMAC-SHA256': 'sha256' };

/** The names of the accepted signature methods. */
export const SIGNATURE_METHODS: readonly string[] = Object.keys(HASHES);

/** A form that was sent by POST, signed by OAuth 1.0. */
interface SignedForm {
  /** The public URL, with its query. */
  url: string;
  fields: readonly (readonly [name: string, value: string])[];
}

/**
 * Compares a signature by a method of `SIGNATURE_METHODS` with the expected one in constant time (RFC 5849, section 3.4.2).
 * The secret may be percent-encoded or not: plugins of Moodle do not encode it.
 */
export function isSigned(form: SignedForm, secret: string, method: string, signature: string): boolean {
  const given = Buffer.from(signature, 'base64');
  const text = baseString(form);
  return [percentEncode(secret), secret].some((key) => {
    const expected = createHmac(HASHES[method] ?? '', `${key}&`)
      .update(text)
      .digest();
    return given.length === expected.length && timingSafeEqual(given, expected);
  });
}

function baseString({ url, fields }: SignedForm): string {
  const { origin, pathname, searchParams } = new URL(url);
  const parameters = [...fields, ...searchParams]
    .filter(([name]) => name !== 'oauth_signature')
    .map(([name, value]) => [percentEncode(name), percentEncode(value)] as const)
    .sort(([a, x], [b, y]) => compare(a, b) || compare(x, y))
    .map((pair) => pair.join('='));
  return ['POST', origin + pathname, parameters.join('&')].map(percentEncode).join('&');
}

/** Encodes all bytes but letters, digits and `-._~` (RFC 5849, section 3.6). */
function percentEncode(text: string): string {
  return encodeURIComponent(text.toWellFormed()).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

/** Encoded texts are ASCII, so this is the order of their bytes. */
function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
