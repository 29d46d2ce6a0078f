import { isIPv4, isIPv6 } from 'node:net';

const MAPPED = /^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/;

/**
 * The one way of writing an IP address that stands for all of them; IPv4 in the clothes of IPv6 is IPv4, as servers
 * that listen for both see it. Undefined for a text that is no address.
 */
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

/** What one customer of a provider has for itself: an IPv4 address, or all those of IPv6 with the same first 64 bits. */
export function networkOf(address: string): string {
  const canonical = canonicalAddress(address) ?? address;
  if (!isIPv6(canonical)) return canonical;
  const [head = [], tail] = canonical.split('::').map((groups) => groups.split(':').filter(Boolean));
  const zeros = tail ? Array(8 - head.length - tail.length).fill('0') : [];
  return `${[...head, ...zeros, ...(tail ?? [])].slice(0, 4).join(':')}::/64`;
}
