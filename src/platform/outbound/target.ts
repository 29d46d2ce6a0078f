/** An address that may be asked. */
export interface Target {
  url: URL;
  /** As URLs have it: lower case, without a dot at its end, IPv6 in brackets. */
  host: string;
  port: number;
  secure: boolean;
}

/**
 * What an address leads to.
 *
 * @param base what a redirect led away from
 * @throws {OutboundFault} for one that is none, of another scheme, or with credentials
 */
export function parseTarget(text: string, base?: URL): Target {
  const what = base ? 'the address it redirects to' : 'it';
  if (!URL.canParse(text, base)) throw new OutboundFault(`${what} is none`);
  const url = new URL(text, base);
  const secure = url.protocol === 'https:';
  if (!secure && url.protocol !== 'http:') {
    throw new OutboundFault(`${what} must begin with http:// or https://`);
  }
  if (url.username || url.password) throw new OutboundFault(`${what} must have no user and no password in it`);
  const host = url.hostname.replace(/\.$/, '');
  const port = url.port === '' ? (secure ? 443 : 80) : Number(url.port);
  return { url, host, port, secure };
}

/** Another host was not reached, or said nothing that can be read. The message is a reason without a capital and a full stop. */
export class OutboundFault extends Error {
  override name = 'OutboundFault';
}
