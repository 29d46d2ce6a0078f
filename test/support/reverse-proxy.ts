import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, request } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { pipeline } from 'node:stream';

/** Says in a header who asks, after what the client says there; without it, tells nothing. */
export type Telling = 'X-Forwarded-For' | 'Forwarded' | undefined;

/** A proxy for HTTP. */
export interface ReverseProxy {
  url: string;
  stop(): void;
}

/**
 * Passes requests on to a server, and their bodies, as proxies in front of it do.
 *
 * @param from the address of this machine that the server sees
 */
export async function startReverseProxy(
  to: string,
  telling: Telling,
  from = '127.0.0.1',
): Promise<ReverseProxy> {
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
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
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
