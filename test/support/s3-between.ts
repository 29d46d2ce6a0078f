import { once } from 'node:events';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { listen } from './listen.ts';

/** What a request to an S3 server is. */
export type S3Request = 'create' | 'part' | 'complete' | 'abort' | 'put' | 'delete' | 'other';

/** What becomes of one; `lose` performs it and breaks the connection, `cut` only breaks it. */
export type Fate = 'pass' | 'silence' | 'lose' | 'cut' | { status: number; code: string };

/** Stands between the product and an S3 server, and decides of each request what becomes of it. */
export interface S3Between {
  url: string;
  /** Asked for each request; lets everything pass unless set. */
  fate: (kind: S3Request) => Fate;
  /** The requests that were cut, to be performed later. */
  cut: (() => Promise<number>)[];
  stop(): Promise<void>;
}

export async function startS3Between(endpoint: string): Promise<S3Between> {
  const target = new URL(endpoint);
  const between: Omit<S3Between, 'url' | 'stop'> = { fate: () => 'pass', cut: [] };
  const server = createServer(async (message, response) => {
    const fate = between.fate(kindOf(message));
    const body = await buffer(message).catch(() => undefined);
    if (!body || fate === 'silence') return;
    if (typeof fate === 'object') return refuse(response, fate);
    if (fate === 'cut') {
      between.cut.push(async () => (await forward(target, message, body)).statusCode ?? 0);
      message.socket.destroy();
      return;
    }
    const answer = await forward(target, message, body).catch(() => undefined);
    if (!answer || fate === 'lose') return void message.socket.destroy();
    response.writeHead(answer.statusCode ?? 500, answer.headers);
    answer.pipe(response);
  });
  return Object.assign(between, {
    url: await listen(server),
    stop: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  });
}

function kindOf({ method = '', url = '' }: IncomingMessage): S3Request {
  const { searchParams: query, pathname } = new URL(url, 'http://s3');
  const isObject = pathname.split('/').length > 3;
  if (method === 'POST') return query.has('uploads') ? 'create' : 'complete';
  if (method === 'PUT' && isObject) return query.has('partNumber') ? 'part' : 'put';
  if (method === 'DELETE') return query.has('uploadId') ? 'abort' : 'delete';
  return 'other';
}

function refuse(response: ServerResponse, { status, code }: { status: number; code: string }): void {
  response.writeHead(status, { 'Content-Type': 'application/xml' });
  response.end(`<?xml version="1.0"?><Error><Code>${code}</Code><Message>Refused.</Message></Error>`);
}

/** With the headers as they are, which are signed. */
async function forward(target: URL, { method, url, headers }: IncomingMessage, body: Buffer) {
  const { expect: _, ...rest } = headers;
  const { hostname: host, port } = target;
  const asking = request({ host, port, method, path: url, headers: rest, agent: false });
  // A server that refuses need not read all of it.
  asking.on('error', () => undefined);
  asking.end(body);
  const [answer] = (await once(asking, 'response')) as [IncomingMessage];
  return answer;
}
