import { isIPv4, isIPv6 } from 'node:net';

const MAPPED = /^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/;

/** Returns the canonical spelling of an IP address, IPv4 for IPv4-mapped IPv6; undefined for other text. */
export function canonicalAddress(text: string): string | undefined {
  const address = text.trim();
  if (isIPv4(address)) return address;
  if (!isIPv6(address) || address.includes('%')) return undefined;
  const canonical = new URL(`http://[${address}]`).hostname.slice(1, -1);
  const [high, low] =
    MAPPED.exec(canonical)
      ?.slice(1)
      .map((digits) => Number.parseInt(digits, 16)) ?? [];
  if (high === undefined || low === undefined) return canonical;
  return [high >> 8, high & 255, low >> 8, low & 255].join('.');
}

/** Returns the network of one customer: an IPv4 address, or the /64 of an IPv6 address. */
export function networkOf(address: string): string {
  const canonical = canonicalAddress(address) ?? address;
  if (!isIPv6(canonical)) return canonical;
  const [head = [], tail] = canonical.split('::').map((groups) => groups.split(':').filter(Boolean));
  const zeros = tail ? Array(8 - head.length - tail.length).fill('0') : [];
  return `${[...head, ...zeros, ...(tail ?? [])].slice(0, 4).join(':')}::/64`;
}
