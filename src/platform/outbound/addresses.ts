import { BlockList, isIP } from 'node:net';
import type { NamedHost } from '../setting/value-kinds.ts';

/** IPv4 addresses that are not global unicast (RFC 6890 and its registry). */
const NOT_PUBLIC_V4: readonly [net: string, prefix: number][] = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
];

/** IPv6 addresses below 2000::/3 that are reserved, examples, or embed IPv4. */
const NOT_PUBLIC_V6: readonly [net: string, prefix: number][] = [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
];

/** Prefix of IPv4 addresses for networks without IPv4. */
const NAT64 = '64:ff9b::';

const publicV6 = new BlockList();
publicV6.addSubnet('2000::', 3, 'ipv6');
publicV6.addSubnet(NAT64, 96, 'ipv6');

const closed = new BlockList();
for (const [net, prefix] of NOT_PUBLIC_V4) {
  closed.addSubnet(net, prefix, 'ipv4');
  closed.addSubnet(`${NAT64}${net}`, 96 + prefix, 'ipv6');
}
for (const [net, prefix] of NOT_PUBLIC_V6) closed.addSubnet(net, prefix, 'ipv6');

const loopback = new BlockList();
loopback.addSubnet('127.0.0.0', 8, 'ipv4');
loopback.addAddress('::1', 'ipv6');

/** Returns true for a global unicast address. */
export function isPublic(address: string): boolean {
  const family = isIP(address);
  if (family === 4) return !closed.check(address, 'ipv4');
  return family === 6 && publicV6.check(address, 'ipv6') && !closed.check(address, 'ipv6');
}

/** Returns true if a host is named with this port, or without a port and this is the default port. */
export function isListedHost(
  hosts: readonly NamedHost[],
  url: { host: string; port: number; secure: boolean },
): boolean {
  const usual = url.secure ? 443 : 80;
  return hosts.some(({ host, port }) => host === url.host && (port ?? usual) === url.port);
}

/** Returns true if a host may have private addresses; a host named without a port may on all ports. */
export function mayBePrivate(hosts: readonly NamedHost[], url: { host: string; port: number }): boolean {
  return hosts.some(({ host, port }) => host === url.host && (port ?? url.port) === url.port);
}

/** Returns true if an address is public or named itself; `localhost` names loopback addresses. */
export function mayConnect(
  hosts: readonly NamedHost[],
  address: string,
  url: { port: number; secure: boolean },
): boolean {
  if (isPublic(address)) return true;
  const family = isIP(address);
  // An address with a zone is no host of a URL.
  if (family === 0 || address.includes('%')) return false;
  const host = family === 6 ? new URL(`http://[${address}]`).hostname : address;
  if (isListedHost(hosts, { ...url, host })) return true;
  return loopback.check(address, family === 6 ? 'ipv6' : 'ipv4') && isListedHost(hosts, { ...url, host: 'localhost' });
}
