import { z } from 'zod';
import { canonicalAddress } from '../text/ip-address.ts';

/** A range of IP addresses with a common prefix. */
export interface Network {
  /** In the form of `canonicalAddress`. */
  address: string;
  /** In bits. */
  prefix: number;
  family: 'ipv4' | 'ipv6';
}

const NAMED: Readonly<Record<string, readonly string[]>> = {
  loopback: ['127.0.0.0/8', '::1'],
  // RFC 1918 and RFC 4193.
  private: ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7'],
};
const BITS = { ipv4: 32, ipv6: 128 };
/** Length of the prefix of IPv4-mapped IPv6 addresses. */
const MAPPED_BITS = 96;

/** Parses `10.1.2.3`, `10.1.0.0/16`, `2001:db8::/32`, `loopback` and `private`. */
export const networks = z
  .string()
  .transform((text) => text.split(',').flatMap((entry) => named(entry.trim())))
  .refine((list) => !list.includes(undefined))
  .transform((list) => list.filter((network) => network !== undefined))
  .meta({
    allowed:
      'IP addresses, networks such as 10.1.0.0/16 or 2001:db8::/32, and the names loopback and private, with commas between',
  });

function named(entry: string): (Network | undefined)[] {
  return Object.hasOwn(NAMED, entry) ? (NAMED[entry] ?? []).map(network) : [network(entry)];
}

function network(text: string): Network | undefined {
  const [, written = '', digits] = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(text) ?? [];
  const address = canonicalAddress(written);
  if (!address) return undefined;
  const family = address.includes(':') ? 'ipv6' : 'ipv4';
  const before = family === 'ipv4' && written.includes(':') ? MAPPED_BITS : 0;
  const prefix = digits === undefined ? BITS[family] : Number(digits) - before;
  return prefix >= 0 && prefix <= BITS[family] ? { address, prefix, family } : undefined;
}
