import { canonicalAddress } from '../../text/ip-address.ts';

/** No chain of proxies writes so much. */
const LONGEST = 8192;
/** A name and a value, bare or in quotes, and what ends it. Proxies leave out quotes where RFC 7239 wants them. */
const PAIR = /[ \t]*([!#$%&'*+\-.^_`|~\w]+)=(?:"((?:[^"\\]|\\.)*)"|([^\s",;]+))[ \t]*(;|,|$)/y;
/** An address, in brackets or not, and a port that nobody needs, which may be a name of its own (RFC 7239). */
const NODE = /^(?:\[([\da-f:.]{2,45})\]|([\d.]{7,15}))(?::(?:\d{1,5}|_[\w.-]+))?$/i;
/** What some proxies make of an address of IPv6: no brackets, and no port. */
const BARE = /^[\da-f:.]{2,45}$/i;

/**
 * Who asked each proxy, by `X-Forwarded-For`, from the last proxy to the first; undefined for one that is not told
 * (`unknown`, an obfuscated name) or not understood. As lazy as its reader, since clients write the left of it.
 */
export function* byForwardedFor(header: string): Generator<string | undefined> {
  for (let end = header.length; end >= 0; ) {
    const comma = end === 0 ? -1 : header.lastIndexOf(',', end - 1);
    yield addressOf(header.slice(comma + 1, end).trim());
    end = comma;
  }
}

/**
 * The same by `Forwarded` (RFC 7239). What a client has written may go on into what proxies have, by a quote that it left
 * open, so all of it is read, and nothing is told of a header that is not well formed in one place.
 */
export function byForwarded(header: string): (string | undefined)[] {
  if (header.length > LONGEST) return [undefined];
  const hops: (string | undefined)[] = [];
  let told: (string | undefined)[] = [];
  for (let at = 0, ended = ','; ended !== ''; ) {
    PAIR.lastIndex = at;
    const [pair, name = '', quoted, bare = '', end = ''] = PAIR.exec(header) ?? [];
    if (pair === undefined) return [undefined];
    at += pair.length;
    ended = end;
    if (name.toLowerCase() === 'for') told.push(addressOf(quoted?.replace(/\\(.)/g, '$1') ?? bare));
    if (end === ';') continue;
    hops.push(told.length === 1 ? told[0] : undefined);
    told = [];
  }
  return hops.reverse();
}

/** @returns undefined for what is no address of IP */
function addressOf(node: string): string | undefined {
  const [, v6, v4] = NODE.exec(node) ?? [];
  if (v4 !== undefined) return canonicalAddress(v4);
  const address = v6 ?? (BARE.test(node) ? node : '');
  return address.includes(':') ? canonicalAddress(address) : undefined;
}
