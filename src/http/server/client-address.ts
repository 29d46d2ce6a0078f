import { BlockList, isIP } from 'node:net';

/** A range of addresses, such as 10.0.0.0/8; of a single one the prefix has all bits. */
export interface Network {
  address: string;
  prefix: number;
}

/** Who is trusted to say on whose behalf it asks. */
export type Trusted = (address: string) => boolean;

/** More proxies than anybody has; what comes before them is not looked at. */
const MOST_HOPS = 32;
/** `name=value` or `name="value"`, as RFC 7239 has it. */
const PAIR = /^\s*([A-Za-z]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s";,]*))\s*$/;
const MAPPED = /^::ffff:(\d{1,3}(?:\.\d{1,3}){3})$/i;

/** Tells the addresses of the networks from others. An IPv4 address counts also as IPv6 has it. */
export function trustedNetworks(networks: readonly Network[]): Trusted {
  const list = new BlockList();
  for (const { address, prefix } of networks) list.addSubnet(address, prefix, familyOf(address));
  return (address) => isIP(address) !== 0 && list.check(address, familyOf(address));
}

/**
 * The address of the client: the peer's, unless that is a trusted proxy, which says for whom it asks in `X-Forwarded-For` or
 * `Forwarded` (RFC 7239). The lists are read from their ends, where the nearest proxy has written, up to the first address
 * that is not trusted: what stands before that is the client's own word. Where both headers are there and do not agree, one
 * of them was written by the client, and neither counts.
 *
 * @param peer the other end of the connection; may be empty
 */
export function clientAddress(peer: string, headers: Headers, isTrusted: Trusted): string {
  const from = plain(peer);
  if (!isTrusted(from)) return from;
  const said = [
    follow(
      from,
      hopsOf(headers.get('X-Forwarded-For'), (text) => text),
      isTrusted,
    ),
    follow(from, hopsOf(headers.get('Forwarded'), forOf), isTrusted),
  ].filter((address) => address !== undefined);
  const [first = from] = said;
  return said.every((address) => address === first) ? first : from;
}

/** @returns undefined for a header that is not there */
function follow(from: string, hops: readonly string[] | undefined, isTrusted: Trusted): string | undefined {
  if (!hops) return undefined;
  let at = from;
  for (const hop of hops.toReversed().slice(0, MOST_HOPS)) {
    const address = addressOf(hop);
    // Unknown, or hidden on purpose: nobody is known beyond this proxy.
    if (address === undefined) return at;
    at = address;
    if (!isTrusted(at)) return at;
  }
  return at;
}

function hopsOf(header: string | null, read: (element: string) => string): string[] | undefined {
  return header?.split(',').map(read);
}

/** The parameter `for` of an element of `Forwarded`; a comma within quotes makes it none. */
function forOf(element: string): string {
  for (const pair of element.split(';')) {
    const [, name, quoted, token] = PAIR.exec(pair) ?? [];
    if (name?.toLowerCase() === 'for') return quoted?.replaceAll(/\\(.)/g, '$1') ?? token ?? '';
  }
  return '';
}

/** An address without brackets and port. */
function addressOf(text: string): string | undefined {
  const trimmed = text.trim();
  const [, bracketed, v4] = /^(?:\[([^\]]+)\](?::\w+)?|(\d+\.\d+\.\d+\.\d+)(?::\w+)?)$/.exec(trimmed) ?? [];
  const address = plain(bracketed ?? v4 ?? trimmed);
  return isIP(address) ? address : undefined;
}

/** Without a zone, and an IPv4 address as such. */
function plain(address: string): string {
  const [bare = ''] = address.split('%');
  return MAPPED.exec(bare)?.[1] ?? bare.toLowerCase();
}

function familyOf(address: string): 'ipv4' | 'ipv6' {
  return isIP(address) === 6 ? 'ipv6' : 'ipv4';
}
