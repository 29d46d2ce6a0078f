import { BlockList, connect as connectTcp, isIP, type LookupFunction, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { NamedHost } from '../setting/value-kinds.ts';

export interface Target {
  url: URL;
  /** As in URLs: lower case, no trailing dot, IPv6 in brackets. */
  host: string;
  port: number;
  secure: boolean;
}

/** Parses a URL for a request. @throws {OutboundError} for an invalid URL, another scheme, or credentials */
export function parseTarget(text: string, base?: URL): Target {
  const what = base ? 'the address it redirects to' : 'it';
  if (!URL.canParse(text, base)) throw new OutboundError(`${what} is not a URL`);
  const url = new URL(text, base);
  const secure = url.protocol === 'https:';
  if (!secure && url.protocol !== 'http:') {
    throw new OutboundError(`${what} must begin with http:// or https://`);
  }
  if (url.username || url.password) throw new OutboundError(`${what} must contain no user and no password`);
  const host = url.hostname.replace(/\.$/, '');
  const port = url.port === '' ? (secure ? 443 : 80) : Number(url.port);
  return { url, host, port, secure };
}

/** A host was unreachable or sent an unreadable response. The message is a clause without a capital and full stop. */
export class OutboundError extends Error {
  override name = 'OutboundError';
}

/** A host has an address that may not be connected to. */
export class AddressForbidden extends OutboundError {
  override name = 'AddressForbidden';
}

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

const CONNECT_MS = 10_000;

export interface ConnectOptions {
  hosts: readonly NamedHost[];
  /** The variable that names them, for errors. */
  variable: string;
  /** True if a named host may have any address; else its addresses must be public or named themselves. */
  namedMayBePrivate?: boolean;
  signal?: AbortSignal | undefined;
  /** DNS lookup; the system's by default. */
  lookup?: LookupFunction | undefined;
}

/**
 * Connects to a host, with TLS for https. Every address that the name resolves to is checked before connecting, and the
 * connection goes to one of them, so no second lookup can lead elsewhere. The socket's own lookup is used because
 * Deno's would need permission for every address.
 *
 * @throws {OutboundError}
 */
export async function connect(target: Target, options: ConnectOptions): Promise<Socket> {
  const timeout = AbortSignal.timeout(CONNECT_MS);
  const signal = options.signal ? AbortSignal.any([timeout, options.signal]) : timeout;
  let socket: Socket | undefined;
  try {
    socket = await reach(target, options, signal);
    return target.secure ? await secure(socket, target, signal) : socket;
  } catch (error) {
    socket?.destroy();
    options.signal?.throwIfAborted();
    throw timeout.aborted
      ? new OutboundError(`connecting to its host took longer than ${CONNECT_MS / 1000} seconds`)
      : error;
  }
}

async function reach(
  target: Target,
  { hosts, variable, namedMayBePrivate = false, lookup }: ConnectOptions,
  signal: AbortSignal,
): Promise<Socket> {
  const socket = connectTcp({ host: bare(target.host), port: target.port, ...(lookup && { lookup }) });
  const trusted = namedMayBePrivate && mayBePrivate(hosts, target);
  const look = (address: string | undefined) => {
    if (address !== undefined && !trusted && !mayConnect(hosts, address, target)) {
      const fault = `its host has an address that is neither public nor named in ${variable}`;
      socket.destroy(new AddressForbidden(fault));
    }
  };
  socket.on('lookup', (_error, address) => look(address));
  socket.on('connect', () => look(socket.remoteAddress));
  return settled(socket, 'connect', signal, 'its host cannot be reached');
}

function secure(socket: Socket, { host }: Target, signal: AbortSignal): Promise<Socket> {
  const name = bare(host);
  const tls = connectTls({
    socket,
    host: name,
    rejectUnauthorized: true,
    ...(isIP(name) === 0 && { servername: name }),
  });
  const fault = 'the TLS connection to its host failed, or its certificate is not trusted';
  return settled(tls, 'secureConnect', signal, fault);
}

/** Waits until a socket is ready. @throws {OutboundError} the one it was destroyed with, or `fault` */
function settled(socket: Socket, event: string, signal: AbortSignal, fault: string): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const fail = (error?: unknown) => reject(error instanceof OutboundError ? error : new OutboundError(fault));
    const onAbort = () => {
      socket.destroy();
      fail();
    };
    if (signal.aborted) return onAbort();
    signal.addEventListener('abort', onAbort, { once: true });
    // Never removed: an unhandled error event would end the process.
    socket.on('error', fail);
    socket.once('close', () => fail());
    socket.once(event, () => {
      signal.removeEventListener('abort', onAbort);
      if (!socket.destroyed) resolve(socket);
    });
  });
}

const bare = (host: string) => host.replace(/^\[|\]$/g, '');
