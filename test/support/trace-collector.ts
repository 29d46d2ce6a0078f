import { createServer, type Server } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';
import { listen } from './listen.ts';

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
  readonly url: string;

  private constructor(server: Server, url: string) {
    this.#server = server;
    this.url = url;
    server.on('request', async (request, response) => {
      const raw = await buffer(request);
      const { 'content-type': type = '', 'content-encoding': encoding, authorization } = request.headers;
      const body = encoding === 'gzip' ? gunzipSync(raw) : raw;
      this.received.push({ path: request.url ?? '', type, authorization, body });
      response.writeHead(200, { 'Content-Type': type }).end(type === 'application/json' ? '{}' : '');
    });
  }

  static async start(): Promise<TraceCollector> {
    const server = createServer();
    return new TraceCollector(server, await listen(server));
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
