import { BlockList } from 'node:net';
import type { Context } from 'hono';
import type { Network } from '../../config/environment.ts';
import { canonicalAddress } from '../../text/ip-address.ts';

/** Returns the client's address, from the address of the connection and the request headers. */
export type ClientAddress = (peer: string, headers: Headers) => string;

const MOST_HOPS = 32;

/**
 * Resolves client addresses behind trusted proxies. The client is the first address from the right in `Forwarded` or
 * `X-Forwarded-For` that is not a trusted proxy: anyone may have written what is left of it. If a proxy names no
 * readable address, its own address counts.
 *
 * A proxy writes one of these headers and forwards the other unchanged. If both are present and disagree, the address
 * of the connection counts.
 *
 * `X-Forwarded-Proto`, `X-Forwarded-Host` and `X-Real-IP` are ignored: PUBLIC_URL is the base of every URL in
 * responses.
 */
export function resolveClientsBehind(proxies: readonly Network[]): ClientAddress {
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

/** Returns non-IP addresses, such as socket paths, unchanged. */
function plain(address: string): string {
  return canonicalAddress(address) ?? address;
}

const FORWARDED_MAX_LENGTH = 8192;
/** A name, a bare or quoted value, and the separator. Some proxies omit the quotes that RFC 7239 requires. */
const FORWARDED_PAIR = /[ \t]*([!#$%&'*+\-.^_`|~\w]+)=(?:"((?:[^"\\]|\\.)*)"|([^\s",;]+))[ \t]*(;|,|$)/y;
/** An address, possibly in brackets, and an optional port, possibly obfuscated (RFC 7239). */
const NODE = /^(?:\[([\da-f:.]{2,45})\]|([\d.]{7,15}))(?::(?:\d{1,5}|_[\w.-]+))?$/i;
/** IPv6 without brackets and port, as some proxies write it. */
const BARE = /^[\da-f:.]{2,45}$/i;

/**
 * Yields the addresses in `X-Forwarded-For` from right to left, undefined if malformed. Clients control the left part.
 */
function byForwardedFor(header: string): Iterable<string | undefined> {
  const nodes = header.split(',').toReversed().values();
  return nodes.map((node) => addressOf(node.trim()));
}

/**
 * Returns the addresses in `Forwarded` (RFC 7239) from right to left. An open quote of a client would continue into
 * text of proxies, so a header that is malformed anywhere yields no address.
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

function addressOf(node: string): string | undefined {
  const [, v6, v4] = NODE.exec(node) ?? [];
  if (v4 !== undefined) return canonicalAddress(v4);
  const address = v6 ?? (BARE.test(node) ? node : '');
  return address.includes(':') ? canonicalAddress(address) : undefined;
}

/** Returns the client's IP address, resolved behind trusted proxies; empty without a connection. */
export function remoteAddress(c: Context): string {
  return c.get('client') ?? peerAddress(c);
}

/** Returns the IP address of the connection, as `serve` provides it. */
export function peerAddress(c: Context): string {
  return (c.env as { remoteAddress?: string } | undefined)?.remoteAddress ?? '';
}
