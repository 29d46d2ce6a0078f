import type { NamedHost } from '../../../config/kinds.ts';
import { isNamed } from './addresses.ts';
import { URL_REFUSED } from './refusals.ts';

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
 * @throws {HttpError} 400 unless its host is named
 */
export function targetOf(text: string, hosts: readonly NamedHost[], base?: URL): Target {
  if (!URL.canParse(text, base)) throw URL_REFUSED(`${what(base)} is none`);
  const url = new URL(text, base);
  const secure = url.protocol === 'https:';
  if (!secure && url.protocol !== 'http:') {
    throw URL_REFUSED(`${what(base)} must begin with http:// or https://`);
  }
  if (url.username || url.password)
    throw URL_REFUSED(`${what(base)} must have no user and no password in it`);
  const host = url.hostname.replace(/\.$/, '');
  const port = url.port === '' ? (secure ? 443 : 80) : Number(url.port);
  if (!isNamed(hosts, { host, port, secure })) {
    throw URL_REFUSED(
      `${base ? 'it redirects to a host' : 'its host and port are'} not among those of INGEST_URL_HOSTS`,
    );
  }
  return { url, host, port, secure };
}

const what = (base: URL | undefined) => (base ? 'the address it redirects to' : 'it');
