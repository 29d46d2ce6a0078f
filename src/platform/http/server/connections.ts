import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** What connections may take. Times in milliseconds. */
export interface ConnectionLimits {
  /** Open at once. */
  connections: number;
  /** How long a client may take nothing of an answer that waits for it. */
  unreadMs: number;
  /** How long a client that is still sending is listened to after the answer, so that it gets to read that. */
  lingerMs: number;
}

const FULL = 'HTTP/1.1 503 Service Unavailable\r\nRetry-After: 5\r\nContent-Length: 0\r\nConnection: close\r\n\r\n';

/**
 * The open connections of a server. When there are too many, the one that has been without a request for longest goes,
 * be it idle or slow with its headers; a new one is refused only when there is a request on every other.
 */
export class Connections {
  readonly #limits: ConnectionLimits;
  /** The requests under way on each. */
  readonly #requests = new Map<Socket, Set<IncomingMessage>>();
  /** Those without a request, the longest first. */
  readonly #waiting = new Set<Socket>();
  #closing = false;

  constructor(server: Server, limits: ConnectionLimits) {
    this.#limits = limits;
    server.on('connection', (socket) => this.#opened(socket));
    server.setTimeout(limits.unreadMs, (socket) => this.#silent(socket));
  }

  /** Ends every connection as soon as there is no request on it. */
  close(): void {
    this.#closing = true;
    for (const socket of this.#waiting) socket.destroySoon();
  }

  /** To be told of every request. */
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
    // Node calls this when the last answer is written.
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

  /** Nothing has come or gone for a while: what is idle ends, and who does not take an answer; handlers have time. */
  #silent(socket: Socket): void {
    const waits = this.#requests.get(socket)?.size === 0 || socket.writableLength > 0;
    if (waits) socket.destroy();
    else socket.setTimeout(this.#limits.unreadMs);
  }
}

/** Were the connection closed at once, the system would reset it, and the answer be lost with it. */
function linger(message: IncomingMessage, ms: number): void {
  const { socket } = message;
  const timer = setTimeout(() => socket.destroy(), ms);
  socket.once('close', () => clearTimeout(timer));
  message.once('close', () => socket.destroy());
  message.resume();
  socket.end();
}
