/** A user name and a password as a client sent them. */
export interface Credentials {
  username: string;
  password: string;
}

const BASIC = /^basic +([A-Za-z0-9+/]+={0,2})$/i;
const BEARER = /^bearer(?: +(.*))?$/i;

/** The token of an `Authorization` header of the scheme Bearer, which may be empty; undefined for any other scheme. */
export function parseBearer(header: string): string | undefined {
  const found = BEARER.exec(header.trim());
  return found ? (found[1] ?? '') : undefined;
}

/**
 * Reads the `Authorization` header of HTTP Basic: UTF-8, the first colon ends the name. Undefined for any other
 * scheme, what is no base64 or UTF-8, a missing colon, an empty name, and NUL characters.
 */
export function parseBasic(header: string): Credentials | undefined {
  const encoded = BASIC.exec(header.trim())?.[1];
  const text = encoded && decode(encoded);
  const colon = text ? text.indexOf(':') : -1;
  if (!text || colon < 1 || text.includes('\0')) return undefined;
  return { username: text.slice(0, colon), password: text.slice(colon + 1) };
}

function decode(encoded: string): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(Buffer.from(encoded, 'base64'));
  } catch {
    return undefined;
  }
}
