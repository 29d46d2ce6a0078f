import { createServer, type RequestListener } from 'node:http';
import { type LookupFunction, createServer as listenTo, type Server, type Socket } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { setImmediate } from 'node:timers/promises';
import { afterEach, expect, test } from 'vitest';
import { loadConfig } from '#platform/config/config.ts';
import { listen as listenOn } from '#test/support/listen.ts';
import { type FetchOptions, openUrl, targetOf } from './fetch-url.ts';

const CONTENT = Buffer.alloc(300_000, 'media');

const closers: (() => void)[] = [];
afterEach(() => {
  for (const close of closers.splice(0)) close();
});

/** @returns the port */
async function listen(server: Server): Promise<number> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => sockets.add(socket));
  closers.push(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return Number(new URL(await listenOn(server)).port);
}

const serve = (handle: RequestListener) => listen(createServer(handle));

/** Answers each connection with the same bytes, and closes it unless told otherwise. */
const serveRaw = (text: string, { open = false } = {}) =>
  listen(
    listenTo((socket) => {
      socket.on('error', () => undefined);
      socket.once('data', () => (open ? socket.write(text) : socket.end(text)));
    }),
  );

const named = (...ports: number[]) => ports.map((port) => ({ host: '127.0.0.1', port }));
const LIMITS = { maxBytes: 2 ** 20, idleMs: 30_000 };

const open = (port: number, path = '/camera.mp4', options: Partial<FetchOptions> = {}) =>
  openUrl(`http://127.0.0.1:${port}${path}`, { ...LIMITS, hosts: named(port), ...options });

const read = async (...args: Parameters<typeof open>) => buffer((await open(...args)).stream);

const refused = (reason: string) => ({ status: 400, message: `The URL cannot be fetched: ${reason}.` });
const expectRefusal = (fetching: Promise<unknown>, reason: string) =>
  expect(fetching).rejects.toMatchObject(refused(reason));

test('a file comes with its name and its size, and the host learns nothing but the path', async () => {
  let asked: unknown;
  const port = await serve((request, response) => {
    asked = { url: request.url, headers: request.headers };
    response.setHeader('Set-Cookie', 'a=b');
    response.end(CONTENT);
  });
  const file = await open(port, '/media/H%C3%B6rsaal%20%3F.mp4?key=1');
  expect(file).toMatchObject({ filename: 'Hörsaal ?.mp4', expectedBytes: CONTENT.length });
  expect((await buffer(file.stream)).equals(CONTENT)).toBe(true);
  const headers = { accept: '*/*', 'accept-encoding': 'identity', 'user-agent': 'Inlet' };
  expect(asked).toEqual({
    url: '/media/H%C3%B6rsaal%20%3F.mp4?key=1',
    headers: { host: `127.0.0.1:${port}`, connection: 'close', ...headers },
  });
});

test('a file in chunks has no size before, and an empty file is one', async () => {
  const port = await serve((_, response) => void [response.write(CONTENT), response.end(CONTENT)]);
  const file = await open(port, '/');
  expect(file).toMatchObject({ filename: 'download', expectedBytes: undefined });
  expect(await buffer(file.stream)).toHaveLength(2 * CONTENT.length);
  expect(await read(await serve((_, response) => void response.end()))).toHaveLength(0);
});

test('nothing is fetched unless hosts are named', async () => {
  expect(loadConfig({}).ingestUrlHosts).toBeUndefined();
  const fetching = openUrl('http://media.example.org/', { ...LIMITS, hosts: undefined });
  await expectRefusal(fetching, 'INGEST_URL_HOSTS is not set, so files must be sent in the request');
});

const REDIRECTED = 'it redirects to a host that is not in INGEST_URL_HOSTS';

test.each([
  ['http://media.example.org/', REDIRECTED],
  ['http://169.254.169.254/latest/meta-data/', REDIRECTED],
  ['http://localhost/', REDIRECTED],
  ['//127.0.0.1:1/', REDIRECTED],
  ['http://user:secret@127.0.0.1/', 'the address it redirects to must contain no user and no password'],
  ['file:///etc/passwd', 'the address it redirects to must begin with http:// or https://'],
  ['http://', 'the address it redirects to is not a URL'],
])('a redirect to %s is refused', async (location, reason) => {
  const port = await serve((_, response) => void response.writeHead(307, { Location: location }).end());
  await expectRefusal(open(port), reason);
});

test('five redirects are followed, and no sixth', async () => {
  const port = await serve((request, response) => {
    const left = Number(request.url?.slice(1));
    if (left > 0) response.writeHead(301, { Location: `/${left - 1}` }).end();
    else response.end(CONTENT);
  });
  const file = await open(port, '/5');
  expect(file.filename).toBe('5');
  expect(await buffer(file.stream)).toHaveLength(CONTENT.length);
  await expectRefusal(open(port, '/6'), 'it redirects more than 5 times');
});

/** Fetches from a host by a name, which is looked up as these addresses. */
const openNamed = (port: number, lookup: LookupFunction, ...more: number[]) => {
  const hosts = [{ host: 'media.example.org', port }, ...named(...more)];
  return openUrl(`http://media.example.org:${port}/`, { ...LIMITS, hosts, lookup });
};

/** Looks every name up as these addresses, a different list each time. */
function lookups(...answers: string[][]): { lookup: LookupFunction; count: () => number } {
  let count = 0;
  const lookup: LookupFunction = (_, options, done) => {
    const list = answers[Math.min(count++, answers.length - 1)] ?? [];
    const addresses = list.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
    process.nextTick(() => {
      if (options.all) done(null, addresses);
      else done(null, list[0] ?? '', addresses[0]?.family);
    });
  };
  return { lookup, count: () => count };
}

test.each([[['127.0.0.1']], [['::ffff:127.0.0.1']], [['93.184.215.14', '127.0.0.1']]])(
  'a name that leads to %j is not asked, unless that address is named',
  async (addresses) => {
    let connections = 0;
    const port = await listen(listenTo(() => connections++));
    const elsewhere = await serve((_, response) => void response.end(CONTENT));
    await expectRefusal(
      openNamed(port, lookups(addresses).lookup, elsewhere),
      'its host has an address that is neither public nor named in INGEST_URL_HOSTS',
    );
    expect(connections).toBe(0);
  },
);

test('a name that leads to an address that is named is asked, by its name', async () => {
  let host: string | undefined;
  const port = await serve((request, response) => {
    host = request.headers.host;
    response.end(CONTENT);
  });
  const { lookup, count } = lookups(['127.0.0.1'], ['10.0.0.1']);
  const file = await openNamed(port, lookup, port);
  expect(await buffer(file.stream)).toHaveLength(CONTENT.length);
  expect(host).toBe(`media.example.org:${port}`);
  // What was looked at is what was asked.
  expect(count()).toBe(1);
});

test('a name that leads to another address at the next redirect is not asked again', async () => {
  let requests = 0;
  const port = await serve((_, response) => {
    requests++;
    response.writeHead(302, { Location: '/again' }).end();
  });
  const { lookup } = lookups(['127.0.0.1'], ['127.0.0.2']);
  await expect(openNamed(port, lookup, port)).rejects.toMatchObject({ status: 400 });
  expect(requests).toBe(1);
});

test('a host that does not exist, or does not listen, cannot be reached', async () => {
  const lookup: LookupFunction = (_, __, done) =>
    process.nextTick(() => done(Object.assign(new Error('secret detail'), { code: 'ENOTFOUND' }), ''));
  await expectRefusal(openNamed(80, lookup), 'its host cannot be reached');
  const port = await serve(() => undefined);
  for (const close of closers.splice(0)) close();
  await expectRefusal(open(port), 'its host cannot be reached');
});

test.each([204, 206, 304, 404])('the status %i is refused without the body', async (status) => {
  const port = await serve((_, response) => void response.writeHead(status).end('secret'));
  await expectRefusal(open(port), `its host answered with status ${status}`);
});

const OK = 'HTTP/1.1 200 OK\r\n';
const SHORT = `${OK}Content-Length: 10\r\n\r\nabc`;
const PACKED = `${OK}Content-Encoding: gzip\r\nContent-Length: 3\r\n\r\nabc`;
const CHUNKED = `${OK}Transfer-Encoding: chunked\r\n\r\n`;

test.each<[what: string, answer: string, reason: string]>([
  ['packed', PACKED, 'its host compresses the file in transit'],
  ['without an end', `${OK}\r\nabc`, 'its host sends neither a length nor chunks'],
  ['no answer', 'SSH-2.0-OpenSSH_9.9\r\n', 'its host sent an unreadable response'],
  ['nothing', '', 'its host sent an unreadable response'],
])('an answer is refused that is %s', async (_, answer, reason) => {
  await expectRefusal(open(await serveRaw(answer)), reason);
});

const CUT = 'its host closed the connection before the file was complete';

test.each([
  ['a length', SHORT],
  ['chunks', `${CHUNKED}3\r\nabc\r\n`],
  ['a chunk', `${CHUNKED}9\r\nabc`],
  ['a broken chunk', `${CHUNKED}x\r\nabc`],
])('a file that is cut short in %s fails, also before anybody reads it', async (_, answer) => {
  const port = await serveRaw(answer);
  await expectRefusal(read(port), CUT);
  const { stream } = await open(port);
  await expect.poll(() => stream.destroyed).toBe(true);
  await expectRefusal(buffer(stream), CUT);
});

test('what comes after the length is no part of the file', async () => {
  const port = await serveRaw(`${OK}Content-Length: 3\r\n\r\nabcdef`);
  expect(String(await read(port))).toBe('abc');
});

test('a file is refused that is larger than it may be, known before or not', async () => {
  const message = 'The file at the URL is larger than the 299999 bytes that are left for this request.';
  const tooLarge = { status: 413, message };
  const port = await serve((request, response) => {
    if (request.url === '/chunks') response.write(CONTENT.subarray(1));
    response.end(request.url === '/chunks' ? CONTENT.subarray(0, 1) : CONTENT);
  });
  await expect(open(port, '/length', { maxBytes: 299_999 })).rejects.toMatchObject(tooLarge);
  await expect(read(port, '/chunks', { maxBytes: 299_999 })).rejects.toMatchObject(tooLarge);
  expect(await read(port, '/chunks', { maxBytes: 300_000 })).toHaveLength(300_000);
});

test('a host that says nothing is given up, before the head and in the body', async () => {
  const silent = refused('its host sent nothing for 0.05 seconds');
  const head = await listen(listenTo((socket) => socket.on('error', () => undefined)));
  await expect(open(head, '/', { idleMs: 50 })).rejects.toMatchObject(silent);
  const body = await serveRaw(SHORT, { open: true });
  await expect(read(body, '/', { idleMs: 50 })).rejects.toMatchObject(silent);
});

test('a host is asked for no more than is read, and the connection ends with the stream', async () => {
  let sent = 0;
  let closed = false;
  const chunk = Buffer.alloc(2 ** 16);
  const port = await serve((_, response) => {
    response.once('close', () => {
      closed = true;
    });
    const more = () => {
      while (!closed && response.write(chunk)) sent += chunk.length;
    };
    response.on('drain', more);
    more();
  });
  const { stream } = await open(port, '/', { maxBytes: 2 ** 40 });
  stream.once('readable', () => undefined);
  let before = -1;
  // Until the buffers on the way are full.
  while (sent > before) {
    before = sent;
    for (let i = 0; i < 200; i++) await setImmediate();
  }
  expect(sent).toBeLessThan(2 ** 26);
  stream.destroy();
  await expect.poll(() => closed).toBe(true);
});

test('a reader that is slow is not taken for a silent host', async () => {
  const port = await serve((_, response) => void response.end(Buffer.alloc(2 ** 23)));
  const { stream } = await open(port, '/', { maxBytes: 2 ** 30, idleMs: 1000 });
  let received = 0;
  for await (const chunk of stream) {
    if (received === 0) await new Promise((resolve) => setTimeout(resolve, 1500));
    received += chunk.length;
  }
  expect(received).toBe(2 ** 23);
});

const hostsOf = (list: string) => loadConfig({ INGEST_URL_HOSTS: list }).ingestUrlHosts ?? [];
const NAMED = hostsOf('Media.example.org, 127.0.0.1:8080,[::1], bücher.example, dot.example.');

test.each([
  ['http://media.example.org/a', 'media.example.org', 80],
  ['https://MEDIA.example.org./a', 'media.example.org', 443],
  ['http://media.example.org:80/a', 'media.example.org', 80],
  ['http://127.0.0.1:8080', '127.0.0.1', 8080],
  ['http://0x7f.1:8080', '127.0.0.1', 8080],
  ['http://[0:0:0:0:0:0:0:1]/', '[::1]', 80],
  ['https://BÜCHER.example/', 'xn--bcher-kva.example', 443],
  ['http://dot.example/', 'dot.example', 80],
])('%s may be asked', (url, host, port) => {
  expect(targetOf(url, NAMED)).toMatchObject({ host, port });
});

const ELSEWHERE = 'its host and port are not in INGEST_URL_HOSTS';

test.each([
  ...[
    ...['http://media.example.org:8080/', 'http://media.example.org:443/', 'http://127.0.0.1/'],
    ...['http://[::ffff:127.0.0.1]:8080/', 'http://media.example.org.evil.example/'],
    ...['http://sub.media.example.org/', 'http://evil.example\\@media.example.org/'],
  ].map((url) => [url, ELSEWHERE]),
  ['http://media.example.org@evil.example/', 'it must contain no user and no password'],
  ['http://:secret@media.example.org/', 'it must contain no user and no password'],
  ['ftp://media.example.org/', 'it must begin with http:// or https://'],
  ['//media.example.org/', 'it is not a URL'],
  ['', 'it is not a URL'],
])('%s may not be asked', (url, reason) => {
  expect(() => targetOf(url, NAMED)).toThrow(`The URL cannot be fetched: ${reason}.`);
});

test.each([
  ...['*', '*.example.org', 'http://media.example.org', 'media.example.org/', 'user@media.example.org'],
  ...['a,,b', ',', 'a b', 'media.example.org:', 'media.example.org:99999'],
  ...['::1', '[::1', '[fe80::1%25eth0]', 'a%62'],
])('INGEST_URL_HOSTS may not be %s', (list) => {
  expect(() => hostsOf(list)).toThrow(
    /^INGEST_URL_HOSTS is .*; allowed is hosts, or hosts and ports such as media.example.org:8080, separated by commas\.$/,
  );
});
