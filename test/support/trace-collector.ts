import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';

/** A span as OTLP has it in JSON. */
export interface Span {
  name: string;
  traceId: string;
  spanId: string;
  parentSpanId: string;
  kind: number;
  status: { code: number; message?: string };
  attributes: Record<string, unknown>;
  resource: Record<string, unknown>;
}

interface Received {
  path: string;
  type: string;
  authorization: string | undefined;
  body: Buffer;
}

type Attribute = { key: string; value: Record<string, unknown> };

/** Takes traces as a collector of OpenTelemetry does. */
export class TraceCollector {
  readonly received: Received[] = [];
  readonly #server: Server;

  private constructor(server: Server) {
    this.#server = server;
    server.on('request', async (request, response) => {
      const raw = await buffer(request);
      const { 'content-type': type = '', 'content-encoding': encoding, authorization } = request.headers;
      const body = encoding === 'gzip' ? gunzipSync(raw) : raw;
      this.received.push({ path: request.url ?? '', type, authorization, body });
      response.writeHead(200, { 'Content-Type': type }).end(type === 'application/json' ? '{}' : '');
    });
  }

  static async start(): Promise<TraceCollector> {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new TraceCollector(server);
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** What came as JSON. */
  get spans(): Span[] {
    return this.received
      .filter(({ type }) => type === 'application/json')
      .flatMap(({ body }) => JSON.parse(body.toString()).resourceSpans)
      .flatMap(({ resource, scopeSpans }) =>
        scopeSpans
          .flatMap(({ spans }: { spans: object[] }) => spans)
          .map((span: { attributes: Attribute[] }) => ({
            ...span,
            attributes: valuesOf(span.attributes),
            resource: valuesOf(resource.attributes),
          })),
      );
  }

  stop(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }
}

function valuesOf(attributes: readonly Attribute[]): Record<string, unknown> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));
}
