import { createServer, type IncomingMessage, type OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { getRequestListener } from '@hono/node-server';
import { renameHeaders, usualHeaderName } from './header-names.ts';
import { OpenRequests } from './open-requests.ts';
import { faultOfTarget, REFUSAL, refuseTarget } from './request-target.ts';

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

/** Listening failed: the port is taken, or the address cannot be used. The message names the variable. */
export class ListenError extends Error {
  override name = 'ListenError';
}

/**
 * Serves a fetch handler over HTTP/1.1 on the runtime this process runs on. What is wrong with where a request is to go
 * is answered with 400 before the handler, so that both runtimes mean the same by every address.
 *
 * @param env is handed to the handler with the peer's address as `remoteAddress`
 * @throws {ListenError}
 */
export function serve(fetch: Fetch, address: { host: string; port: number }): Promise<RunningServer> {
  return 'Deno' in globalThis ? serveOnDeno(fetch, address) : serveOnNode(fetch, address);
}

interface DenoServer {
  addr: { port: number };
  finished: Promise<void>;
  shutdown(): Promise<void>;
}

interface DenoNamespace {
  serve(
    options: { hostname: string; port: number; signal: AbortSignal; onListen(): void },
    handler: (request: Request, info: { remoteAddr: { hostname: string } }) => Response | Promise<Response>,
  ): DenoServer;
}

async function serveOnDeno(
  fetch: Fetch,
  { host, port }: { host: string; port: number },
): Promise<RunningServer> {
  const { Deno } = globalThis as unknown as { Deno: DenoNamespace };
  const controller = new AbortController();
  const requests = new OpenRequests();
  try {
    const server = Deno.serve(
      { hostname: host.replace(/^\[|\]$/g, ''), port, signal: controller.signal, onListen: () => undefined },
      async (request, info) => {
        const refused = refuseTarget(request);
        if (refused) return refused;
        const answer = () => fetch(request, { remoteAddress: info.remoteAddr.hostname });
        return renameHeaders(await requests.answer(answer));
      },
    );
    return {
      port: server.addr.port,
      close: async () => {
        // Deno's own shutdown would break off the uploads under way.
        await requests.close();
        await server.shutdown();
      },
      destroy: () => controller.abort(),
    };
  } catch (error) {
    throw listenError(error, { host, port });
  }
}

function serveOnNode(fetch: Fetch, { host, port }: { host: string; port: number }): Promise<RunningServer> {
  const listener = getRequestListener(
    (request, env) =>
      fetch(request, { remoteAddress: (env as { incoming: IncomingMessage }).incoming.socket.remoteAddress }),
    // What an HTTP/1.0 client without a Host means.
    { hostname: 'localhost' },
  );
  const options = {
    // A recording takes as long as it takes; an idle limit watches over the body instead.
    requestTimeout: 0,
    headersTimeout: 60_000,
    keepAliveTimeout: 65_000,
    ServerResponse: NamedServerResponse,
  };
  const server = createServer(options, (incoming, outgoing) => {
    // As Deno has it.
    if (incoming.method === 'OPTIONS' && incoming.url === '*') incoming.url = '/*';
    const fault = faultOfTarget(incoming.url ?? '', incoming.headers.host);
    if (fault === undefined) return void listener(incoming, outgoing);
    outgoing.writeHead(400, { ...REFUSAL, 'Content-Length': Buffer.byteLength(fault) }).end(fault);
  });
  server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) => {
    continueWhenRead(request, response);
    server.emit('request', request, response);
  });
  return new Promise((resolve, reject) => {
    server.once('error', (error) => reject(listenError(error, { host, port })));
    server.listen(port, host.replace(/^\[|\]$/g, ''), () => {
      const address = server.address();
      resolve({
        port: typeof address === 'object' && address ? address.port : port,
        close: () =>
          new Promise((closed) => {
            server.close(() => closed());
            server.closeIdleConnections();
          }),
        destroy: () => server.closeAllConnections(),
      });
    });
  });
}

/** Node writes header names as they are handed to it, which here is in lower case. */
class NamedServerResponse<R extends IncomingMessage = IncomingMessage> extends ServerResponse<R> {
  override writeHead(status: number, ...rest: unknown[]): this {
    const headers = rest.at(-1);
    if (headers && typeof headers === 'object' && !Array.isArray(headers)) {
      rest[rest.length - 1] = Object.fromEntries(
        Object.entries(headers as OutgoingHttpHeaders).map(([name, value]) => [usualHeaderName(name), value]),
      );
    }
    return super.writeHead(status, ...(rest as [OutgoingHttpHeaders]));
  }
}

/**
 * Answers `Expect: 100-continue` when the handler first reads the body, so that a refusal before that saves the client
 * the transfer. (Deno's server asks for every body at once, and cannot be told otherwise.)
 */
function continueWhenRead(request: IncomingMessage, response: ServerResponse): void {
  const read = request._read;
  request._read = (size) => {
    request._read = read;
    if (!response.headersSent) response.writeContinue();
    return read.call(request, size);
  };
}

function listenError(error: unknown, { host, port }: { host: string; port: number }): ListenError {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  const name = error instanceof Error ? error.name : '';
  if (code === 'EADDRINUSE' || name === 'AddrInUse') {
    return new ListenError(`PORT ${port} is already in use on ${host}; set PORT to a free one.`);
  }
  return new ListenError(
    `HOST ${host} with PORT ${port} cannot be used: ${error instanceof Error ? error.message : error}`,
  );
}
