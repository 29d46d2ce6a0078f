import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Limits of connections. Times in milliseconds. */
export interface ConnectionLimits {
  /** Open at the same time. */
  connections: number;
  /** Longest time in which a client reads nothing of a response. */
  unreadMs: number;
  /** Longest time to receive from a client after the response, so that it can read the response. */
  lingerMs: number;
}

const FULL = 'HTTP/1.1 503 Service Unavailable\r\nRetry-After: 5\r\nContent-Length: 0\r\nConnection: close\r\n\r\n';

/**
 * The open connections of a server. At the limit, the connection that has been without a request for longest is closed,
 * idle or slow; a new one is rejected only when all others have requests.
 */
export class Connections {
  readonly #limits: ConnectionLimits;
  readonly #requests = new Map<Socket, Set<IncomingMessage>>();
  /** Connections without a request, longest first. */
  readonly #waiting = new Set<Socket>();
  #closing = false;

  constructor(server: Server, limits: ConnectionLimits) {
    this.#limits = limits;
    server.on('connection', (socket) => this.#opened(socket));
    server.setTimeout(limits.unreadMs, (socket) => this.#silent(socket));
  }

  /** Closes every connection as soon as it has no request. */
  close(): void {
    this.#closing = true;
    for (const socket of this.#waiting) socket.destroySoon();
  }

  /** Registers a request. */
  asked(message: IncomingMessage, response: ServerResponse): void {
    const { socket } = message;
    const requests = this.#requests.get(socket);
    if (!requests) return;
    requests.add(message);
    this.#waiting.delete(socket);
    if (this.#closing) response.shouldKeepAlive = false;
    response.once('close', () => {
      requests.delete(message);
      if (requests.size > 0 || !this.#requests.has(socket)) return;
      this.#waiting.add(socket);
      if (this.#closing) socket.destroySoon();
    });
    // Node calls this when the last response is written.
    socket.destroySoon = () => {
      socket.destroySoon = Object.getPrototypeOf(socket).destroySoon;
      if (message.complete || message.destroyed) socket.destroySoon();
      else linger(message, this.#limits.lingerMs);
    };
  }

  #opened(socket: Socket): void {
    this.#requests.set(socket, new Set());
    this.#waiting.add(socket);
    socket.once('close', () => {
      this.#requests.delete(socket);
      this.#waiting.delete(socket);
    });
    if (this.#requests.size <= this.#limits.connections) return;
    const [longest = socket] = this.#waiting;
    if (longest === socket) socket.write(FULL, () => socket.destroy());
    else longest.destroy();
  }

  /** After a silence, closes idle connections and those that do not read their response; handlers may take time. */
  #silent(socket: Socket): void {
    const waits = this.#requests.get(socket)?.size === 0 || socket.writableLength > 0;
    if (waits) socket.destroy();
    else socket.setTimeout(this.#limits.unreadMs);
  }
}

/** Closing immediately would reset the connection and lose the response. */
function linger(message: IncomingMessage, ms: number): void {
  const { socket } = message;
  const timer = setTimeout(() => socket.destroy(), ms);
  socket.once('close', () => clearTimeout(timer));
  message.once('close', () => socket.destroy());
  message.resume();
  socket.end();
}
