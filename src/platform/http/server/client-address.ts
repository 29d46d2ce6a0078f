import { BlockList } from 'node:net';
import type { Context } from 'hono';
import type { Network } from '../../config/networks.ts';
import { canonicalAddress } from '../../text/ip-address.ts';

/** Returns the address of the client, by that of the other end of the connection and the headers of the request. */
export type ClientAddress = (peer: string, headers: Headers) => string;

/** More proxies than any request passes. */
const MOST_HOPS = 32;

/**
 * Tells the addresses of clients behind these proxies. An address is that of the peer unless the peer is such a proxy;
 * then it is the first from the right in `Forwarded` or `X-Forwarded-For` that is not one of these proxies, for all that is
 * left of it may have been written by anybody. Where a proxy does not say who asked it, or not so that it can be
 * understood, its own address stands for the client.
 *
 * A proxy writes one of the headers and lets the other pass as the client sent it. So where both are there and name
 * different clients, neither is believed, and the peer's address counts.
 *
 * No other header of proxies counts (`X-Forwarded-Proto`, `X-Forwarded-Host`, `X-Real-IP`): the base of every address that
 * is handed out is configured.
 */
export function clientsBehind(proxies: readonly Network[]): ClientAddress {
  if (proxies.length === 0) return plain;
  const list = new BlockList();
  for (const { address, prefix, family } of proxies) list.addSubnet(address, prefix, family);
  const trusted = (address: string) =>
    canonicalAddress(address) !== undefined && list.check(address, address.includes(':') ? 'ipv6' : 'ipv4');
  const walk = (from: string, hops: Iterable<string | undefined>) => {
    let client = from;
    let passed = 0;
    for (const hop of hops) {
      if (hop === undefined || passed++ === MOST_HOPS) return client;
      client = hop;
      if (!trusted(hop)) return client;
    }
    return client;
  };
  return (address, headers) => {
    const peer = plain(address);
    if (!trusted(peer)) return peer;
    const forwarded = headers.get('Forwarded');
    const forwardedFor = headers.get('X-Forwarded-For');
    const told = [
      ...(forwarded === null ? [] : [walk(peer, byForwarded(forwarded))]),
      ...(forwardedFor === null ? [] : [walk(peer, byForwardedFor(forwardedFor))]),
    ];
    const [client = peer] = told;
    return told.every((each) => each === client) ? client : peer;
  };
}

/** What is no address of IP, such as that of a socket in a file, stays what it is. */
function plain(address: string): string {
  return canonicalAddress(address) ?? address;
}

/** More than any chain of proxies writes. */
const FORWARDED_MAX_LENGTH = 8192;
/** A name and a value, bare or in quotes, and what ends it. Proxies leave out quotes where RFC 7239 wants them. */
const FORWARDED_PAIR = /[ \t]*([!#$%&'*+\-.^_`|~\w]+)=(?:"((?:[^"\\]|\\.)*)"|([^\s",;]+))[ \t]*(;|,|$)/y;
/** An address, in brackets or not, and a port that nobody needs, which may be a name of its own (RFC 7239). */
const NODE = /^(?:\[([\da-f:.]{2,45})\]|([\d.]{7,15}))(?::(?:\d{1,5}|_[\w.-]+))?$/i;
/** What some proxies make of an address of IPv6: no brackets, and no port. */
const BARE = /^[\da-f:.]{2,45}$/i;

/**
 * Yields the address that asked each proxy, by `X-Forwarded-For`, from the last proxy to the first; undefined for an
 * address that is hidden (`unknown`, an obfuscated name) or malformed. Lazy, since clients write the left of it.
 */
function* byForwardedFor(header: string): Generator<string | undefined> {
  for (let end = header.length; end >= 0; ) {
    const comma = end === 0 ? -1 : header.lastIndexOf(',', end - 1);
    yield addressOf(header.slice(comma + 1, end).trim());
    end = comma;
  }
}

/**
 * Returns the same by `Forwarded` (RFC 7239). A quote that a client leaves open continues into what proxies have written,
 * so the whole header is read, and one that is malformed anywhere names no address.
 */
function byForwarded(header: string): (string | undefined)[] {
  if (header.length > FORWARDED_MAX_LENGTH) return [undefined];
  const hops: (string | undefined)[] = [];
  let told: (string | undefined)[] = [];
  for (let at = 0, ended = ','; ended !== ''; ) {
    FORWARDED_PAIR.lastIndex = at;
    const [pair, name = '', quoted, bare = '', end = ''] = FORWARDED_PAIR.exec(header) ?? [];
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

/**
 * The IP address of the client, also behind a proxy that is trusted; empty without a connection. Addresses that are handed
 * out begin with PUBLIC_URL, so what a proxy says of scheme and host is of no interest.
 */
export function remoteAddress(c: Context): string {
  return c.get('client') ?? peerAddress(c);
}

/** The IP address of the other end of the connection, as `serve` hands it over. */
export function peerAddress(c: Context): string {
  return (c.env as { remoteAddress?: string } | undefined)?.remoteAddress ?? '';
}
