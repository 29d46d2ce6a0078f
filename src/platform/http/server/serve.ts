import { createServer, type IncomingMessage, type OutgoingHttpHeaders, type Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import { capitalizeHeader } from './header-names.ts';
import { isLong, rememberMessage, TINY_CHUNKS, watchChunks } from './incoming-message.ts';
import { hostOf, REJECTION_HEADERS, targetError } from './request-target.ts';

export interface RunningServer {
  port: number;
  /** Stops listening and resolves when open requests are answered. */
  close(): Promise<void>;
  destroy(): void;
}

type Fetch = (request: Request, env?: object) => Response | Promise<Response>;

/** Limits of clients. Times in milliseconds. Bodies have an idle limit of their reader instead. */
export interface ServerLimits extends ConnectionLimits {
  /** From the first byte of a request to the end of its headers. */
  headersMs: number;
  /** Between two requests of a connection. */
  keepAliveMs: number;
}

const LIMITS: ServerLimits = {
  headersMs: 60_000,
  keepAliveMs: 65_000,
  // Ten thousand clients may follow updates, with one connection each.
  connections: 16_384,
  unreadMs: 300_000,
  lingerMs: 5_000,
};

/** The port is in use, or the address is not available. The message names the variable. */
export class ListenError extends Error {
  override name = 'ListenError';
}

/**
 * Serves a fetch handler over HTTP/1.1. Ambiguous request targets get 400 before the handler.
 *
 * Uses `node:http` on both runtimes: Deno's server has no limits for headers, idle connections or unread responses, and
 * switches to HTTP/2 when a client begins with it.
 *
 * @throws {ListenError}
 */
export async function serve(
  fetch: Fetch,
  at: { host: string; port: number; variable?: string },
  limits: Partial<ServerLimits> = {},
): Promise<RunningServer> {
  const { headersMs, keepAliveMs, ...ofConnections } = { ...LIMITS, ...limits };
  const server = createServer({
    // Recordings take hours.
    requestTimeout: 0,
    headersTimeout: headersMs,
    keepAliveTimeout: keepAliveMs,
    connectionsCheckingInterval: Math.min(headersMs, 10_000),
    ServerResponse: InletResponse,
  });
  const connections = new Connections(server, ofConnections);
  const listener = getRequestListener(
    (request, env) => {
      const { incoming } = env as { incoming: IncomingMessage };
      rememberMessage(request, incoming);
      return fetch(request, { remoteAddress: incoming.socket.remoteAddress });
    },
    // For HTTP/1.0 clients without a Host.
    { hostname: 'localhost', autoCleanupIncoming: false },
  );
  server.on('request', (message: IncomingMessage, response: ServerResponse) => {
    connections.asked(message, response);
    watchChunks(message, () => refuseTinyChunks(message, response));
    // As the URL standard resolves it.
    if (message.method === 'OPTIONS' && message.url === '*') message.url = '/*';
    const fault = targetError(message.url ?? '', hostOf(message.rawHeaders));
    if (fault === undefined) return void listener(message, response);
    response.writeHead(400, { ...REJECTION_HEADERS, 'Content-Length': Buffer.byteLength(fault) }).end(fault);
  });
  server.on('checkContinue', (message: IncomingMessage, response: ServerResponse) => {
    continueWhenRead(message, response);
    server.emit('request', message, response);
  });
  await listen(server, at);
  const address = server.address();
  return {
    port: typeof address === 'object' && address ? address.port : at.port,
    close: () =>
      new Promise((closed) => {
        server.close(() => closed());
        connections.close();
      }),
    destroy: () => server.closeAllConnections(),
  };
}

/** Sends `100 Continue` when the handler first reads the body, so that an early refusal saves the transfer. */
function continueWhenRead(message: IncomingMessage, response: ServerResponse): void {
  const read = message._read;
  message._read = (size) => {
    message._read = read;
    if (!response.headersSent) response.writeContinue();
    return read.call(message, size);
  };
}

/** Responds without the handler, which sees the connection close. */
function refuseTinyChunks({ socket }: IncomingMessage, response: ServerResponse): void {
  if (!response.headersSent) {
    const headers = Object.entries({ ...REJECTION_HEADERS, 'Content-Length': TINY_CHUNKS.length });
    const head = ['HTTP/1.1 400 Bad Request', ...headers.map((header) => header.join(': '))];
    socket.write(`${head.join('\r\n')}\r\n\r\n${TINY_CHUNKS}`);
  }
  socket.destroy();
}

async function listen(
  server: Server,
  { host, port, variable = 'PORT' }: { host: string; port: number; variable?: string },
): Promise<void> {
  try {
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(port, host.replace(/^\[|\]$/g, ''), resolve);
    });
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw new ListenError(
      code === 'EADDRINUSE'
        ? `${variable} ${port} is already in use on ${host}; set ${variable} to a free one.`
        : `HOST ${host} with ${variable} ${port} cannot be used: ${message}`,
    );
  }
}

/** A response with capitalized header names. It closes the connection if much of the request is unread. */
class InletResponse<R extends IncomingMessage = IncomingMessage> extends ServerResponse<R> {
  override writeHead(status: number, ...rest: unknown[]): this {
    const headers = rest.at(-1);
    if (headers && typeof headers === 'object' && !Array.isArray(headers)) {
      rest[rest.length - 1] = Object.fromEntries(
        Object.entries(headers as OutgoingHttpHeaders).map(([name, value]) => [capitalizeHeader(name), value]),
      );
    }
    const unread = !this.req.complete && isLong((name) => this.req.headers[name]?.toString());
    if (unread) this.shouldKeepAlive = false;
    super.writeHead(status, ...(rest as [OutgoingHttpHeaders]));
    // Drops the rest of the body, while its chunks are still watched.
    if (unread) this.req.resume();
    return this;
  }
}

interface ConnectionLimits {
  /** Open at the same time. */
  connections: number;
  /** Longest time in which a client reads nothing of a response. */
  unreadMs: number;
  /** Longest time to receive from a client after the response, so that it can read the response. */
  lingerMs: number;
}

const FULL = 'HTTP/1.1 503 Service Unavailable\r\nRetry-After: 5\r\nContent-Length: 0\r\nConnection: close\r\n\r\n';

/**
 * The connections of a server. At the limit, the one that has been without a request for longest is closed; a new one
 * is rejected only when all others have requests.
 */
class Connections {
  readonly #limits: ConnectionLimits;
  readonly #requests = new Map<Socket, Set<IncomingMessage>>();
  readonly #waiting = new Set<Socket>();
  #closing = false;

  constructor(server: Server, limits: ConnectionLimits) {
    this.#limits = limits;
    server.on('connection', (socket) => this.#opened(socket));
    server.setTimeout(limits.unreadMs, (socket) => this.#silent(socket));
  }

  close(): void {
    this.#closing = true;
    for (const socket of this.#waiting) socket.destroySoon();
  }

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
