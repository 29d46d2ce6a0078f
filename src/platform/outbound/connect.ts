import { connect as connectTcp, isIP, type LookupFunction, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { NamedHost } from '../setting/value-kinds.ts';
import { mayBePrivate, mayConnect } from './addresses.ts';
import { OutboundFault, type Target } from './target.ts';

const CONNECT_MS = 10_000;

/** How connections are made. */
export interface ConnectOptions {
  /** Hosts that may be private. */
  hosts: readonly NamedHost[];
  /** The variable that names these. */
  variable: string;
  /** Whether a host that is named may have any address; else its addresses must be public, or named themselves. */
  namedMayBePrivate?: boolean;
  signal?: AbortSignal | undefined;
  /** Looks names up; the system does unless given. */
  lookup?: LookupFunction | undefined;
}

/**
 * Connects to a host. Every address that its name leads to is looked at before the first connection, and the
 * connection goes to one of those: no second look-up can lead elsewhere. On Deno a look-up of our own would need the
 * permission for every address; the event that the socket's own emits needs that for the name alone.
 *
 * @returns a connection, with TLS where the address wants that
 * @throws {OutboundFault}
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
    throw timeout.aborted ? new OutboundFault(`no connection came about in ${CONNECT_MS / 1000} seconds`) : error;
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
      socket.destroy(new OutboundFault(fault));
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
  const fault = 'no encrypted connection to its host came about, or its certificate is not trusted';
  return settled(tls, 'secureConnect', signal, fault);
}

/** Waits until a socket can be used. @throws {OutboundFault} what it was destroyed with, or the fault */
function settled(socket: Socket, event: string, signal: AbortSignal, fault: string): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const fail = (error?: unknown) => reject(error instanceof OutboundFault ? error : new OutboundFault(fault));
    const onAbort = () => {
      socket.destroy();
      fail();
    };
    if (signal.aborted) return onAbort();
    signal.addEventListener('abort', onAbort, { once: true });
    // Never removed: an error that nobody hears would end the process.
    socket.on('error', fail);
    socket.once('close', () => fail());
    socket.once(event, () => {
      signal.removeEventListener('abort', onAbort);
      if (!socket.destroyed) resolve(socket);
    });
  });
}

/** Without the brackets that URLs have around IPv6. */
const bare = (host: string) => host.replace(/^\[|\]$/g, '');
