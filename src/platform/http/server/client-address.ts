import { BlockList } from 'node:net';
import type { Network } from '../../config/networks.ts';
import { canonicalAddress } from '../../text/ip-address.ts';
import { byForwarded, byForwardedFor } from './forwarded.ts';

/** Who asks, by the address of the other end of the connection and the headers of the request. */
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
