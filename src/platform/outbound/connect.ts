import { connect as connectTcp, isIP, type LookupFunction, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { NamedHost } from '../setting/value-kinds.ts';
import { mayBePrivate, mayConnect } from './addresses.ts';
import { OutboundError, type Target } from './target.ts';

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
      socket.destroy(new OutboundError(fault));
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
