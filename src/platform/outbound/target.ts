export interface Target {
  url: URL;
  /** As in URLs: lower case, no trailing dot, IPv6 in brackets. */
  host: string;
  port: number;
  secure: boolean;
}

/** Parses a URL for a request. @throws {OutboundError} for an invalid URL, another scheme, or credentials */
export function parseTarget(text: string, base?: URL): Target {
  const what = base ? 'the address it redirects to' : 'it';
  if (!URL.canParse(text, base)) throw new OutboundError(`${what} is not a URL`);
  const url = new URL(text, base);
  const secure = url.protocol === 'https:';
  if (!secure && url.protocol !== 'http:') {
    throw new OutboundError(`${what} must begin with http:// or https://`);
  }
  if (url.username || url.password) throw new OutboundError(`${what} must contain no user and no password`);
  const host = url.hostname.replace(/\.$/, '');
  const port = url.port === '' ? (secure ? 443 : 80) : Number(url.port);
  return { url, host, port, secure };
}

/** A host was unreachable or sent an unreadable response. The message is a clause without a capital and full stop. */
export class OutboundError extends Error {
  override name = 'OutboundFault';
}
