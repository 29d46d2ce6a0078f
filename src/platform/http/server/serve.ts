import { createServer, type IncomingMessage, type OutgoingHttpHeaders, type Server, ServerResponse } from 'node:http';
import { getRequestListener } from '@hono/node-server';
import { type ConnectionLimits, Connections } from './connections.ts';
import { usualHeaderName } from './header-names.ts';
import { rememberMessage, TINY_CHUNKS, watchChunks } from './incoming-message.ts';
import { faultOfTarget, hostOf, REFUSAL } from './request-target.ts';

/** A server that is listening. */
export interface RunningServer {
  /** The port in use. */
  port: number;
  /** Takes no further request and resolves when those under way have been answered. */
  close(): Promise<void>;
  /** Ends every connection at once. */
  destroy(): void;
}

type Fetch = (request: Request, env?: object) => Response | Promise<Response>;

/** What clients may take. Times in milliseconds. A body may take any time, and has an idle limit of its own. */
export interface ServerLimits extends ConnectionLimits {
  /** From the first byte of a request to the last of its headers. */
  headersMs: number;
  /** Between two requests of a connection. */
  keepAliveMs: number;
}

const LIMITS: ServerLimits = {
  headersMs: 60_000,
  keepAliveMs: 65_000,
  // Ten thousand may follow updates, and have one each.
  connections: 16_384,
  unreadMs: 300_000,
  lingerMs: 5_000,
};

/** Listening failed: the port is taken, or the address cannot be used. The message names the variable. */
export class ListenError extends Error {
  override name = 'ListenError';
}

/**
 * Serves a fetch handler over HTTP/1.1. What is wrong with where a request is to go is answered with 400 before the
 * handler.
 *
 * By `node:http` on both runtimes: Deno's own server has no limit for anything, neither for headers nor for connections
 * that are idle or take no answer, and talks HTTP/2 with whoever begins with it.
 *
 * @param at.variable where the port comes from, for the message
 * @param env is handed to the handler with the peer's address as `remoteAddress`
 * @throws {ListenError}
 */
export async function serve(
  fetch: Fetch,
  at: { host: string; port: number; variable?: string },
  limits: Partial<ServerLimits> = {},
): Promise<RunningServer> {
  const { headersMs, keepAliveMs, ...ofConnections } = { ...LIMITS, ...limits };
  const server = createServer({
    // A recording takes as long as it takes.
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
    // The name is what an HTTP/1.0 client without a Host means.
    { hostname: 'localhost', autoCleanupIncoming: false },
  );
  server.on('request', (message: IncomingMessage, response: ServerResponse) => {
    connections.asked(message, response);
    watchChunks(message, () => refuseTinyChunks(message, response));
    // As the standard of URLs has it.
    if (message.method === 'OPTIONS' && message.url === '*') message.url = '/*';
    const fault = faultOfTarget(message.url ?? '', hostOf(message.rawHeaders));
    if (fault === undefined) return void listener(message, response);
    response.writeHead(400, { ...REFUSAL, 'Content-Length': Buffer.byteLength(fault) }).end(fault);
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

/**
 * Answers `Expect: 100-continue` when the handler first reads the body, so that a refusal before that saves the client
 * the transfer.
 */
function continueWhenRead(message: IncomingMessage, response: ServerResponse): void {
  const read = message._read;
  message._read = (size) => {
    message._read = read;
    if (!response.headersSent) response.writeContinue();
    return read.call(message, size);
  };
}

/** Without waiting for the handler, which the end of the connection tells. */
function refuseTinyChunks({ socket }: IncomingMessage, response: ServerResponse): void {
  if (!response.headersSent) {
    const headers = Object.entries({ ...REFUSAL, 'Content-Length': TINY_CHUNKS.length });
    const head = ['HTTP/1.1 400 Bad Request', ...headers.map((header) => header.join(': '))];
    socket.write(`${head.join('\r\n')}\r\n\r\n${TINY_CHUNKS}`);
  }
  socket.destroy();
}

async function listen(server: Server, at: { host: string; port: number; variable?: string }): Promise<void> {
  try {
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(at.port, at.host.replace(/^\[|\]$/g, ''), resolve);
    });
  } catch (error) {
    throw listenError(error, at);
  }
}

function listenError(
  error: unknown,
  { host, port, variable = 'PORT' }: { host: string; port: number; variable?: string },
): ListenError {
  if (error instanceof Error && 'code' in error && error.code === 'EADDRINUSE') {
    return new ListenError(`${variable} ${port} is already in use on ${host}; set ${variable} to a free one.`);
  }
  return new ListenError(
    `HOST ${host} with ${variable} ${port} cannot be used: ${error instanceof Error ? error.message : error}`,
  );
}

/** A body longer than this is not received only to be thrown away. */
const WORTH_READING_BYTES = 64 * 1024;

/** An answer with the usual names of headers, and the last one of a connection on which much is still to come. */
class InletResponse<R extends IncomingMessage = IncomingMessage> extends ServerResponse<R> {
  override writeHead(status: number, ...rest: unknown[]): this {
    const headers = rest.at(-1);
    if (headers && typeof headers === 'object' && !Array.isArray(headers)) {
      rest[rest.length - 1] = Object.fromEntries(
        Object.entries(headers as OutgoingHttpHeaders).map(([name, value]) => [usualHeaderName(name), value]),
      );
    }
    const unread = leavesMuch(this.req);
    if (unread) this.shouldKeepAlive = false;
    super.writeHead(status, ...(rest as [OutgoingHttpHeaders]));
    // Dropped from now on, in the sight of whoever watches over its chunks.
    if (unread) this.req.resume();
    return this;
  }
}

function leavesMuch({ complete, headers }: IncomingMessage): boolean {
  if (complete) return false;
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length']) > WORTH_READING_BYTES;
}
