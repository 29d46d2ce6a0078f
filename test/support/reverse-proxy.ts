import { createServer, type IncomingHttpHeaders, request } from 'node:http';
import type { Socket } from 'node:net';
import { pipeline } from 'node:stream';
import { listen } from './listen.ts';

/** Says in a header who asks, after what the client says there; without it, tells nothing. */
export type Telling = 'X-Forwarded-For' | 'Forwarded' | undefined;

/**
 * Passes requests on to a server, and their bodies, as proxies in front of it do.
 *
 * @param from the address of this machine that the server sees
 */
export async function startReverseProxy(to: string, telling: Telling, from = '127.0.0.1') {
  const target = new URL(to);
  const server = createServer((asked, answer) => {
    const { method, url: path, socket } = asked;
    const headers = withClient(asked.headers, telling, socket);
    const passed = request({
      host: target.hostname,
      port: target.port,
      method,
      path,
      headers,
      localAddress: from,
    });
    passed.once('response', (got) => {
      answer.writeHead(got.statusCode ?? 502, got.rawHeaders);
      pipeline(got, answer, () => undefined);
    });
    pipeline(asked, passed, () => undefined);
  });
  return {
    url: await listen(server),
    stop: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

function withClient(headers: IncomingHttpHeaders, telling: Telling, { remoteAddress = '' }: Socket) {
  if (!telling) return headers;
  const name = telling.toLowerCase();
  const own = telling === 'Forwarded' ? `for=${remoteAddress};proto=https` : remoteAddress;
  const before = headers[name];
  return { ...headers, [name]: before === undefined ? own : `${before}, ${own}` };
}
