import { once } from 'node:events';
import { connect } from 'node:net';

/** What somebody sends who wishes a server ill: whole, or piece by piece for as long as the server listens. */
export interface HostileRequest {
  name: string;
  pieces(): Iterable<string>;
  /** Whether it may also be taken for what it says, as what is odd and harmless. */
  harmless?: boolean;
}

/** How a server met it. */
export interface Met {
  /** Of the first answer; undefined for a connection that was ended without any. */
  status: number | undefined;
  answer: string;
  /** Whether the server ended the connection. */
  ended: boolean;
  /** Bytes that were on their way when the answer came. */
  sent: number;
}

/** Sends it over connections of its own until the server answers and ends, or `patienceMs` is over. */
export async function meet(url: string, { pieces }: HostileRequest, patienceMs: number): Promise<Met> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  const met: Met = { status: undefined, answer: '', ended: true, sent: 0 };
  socket.on('error', () => undefined);
  socket.on('data', (bytes) => {
    met.answer += bytes.toString('latin1');
  });
  const closed = new Promise((resolve) => socket.once('close', resolve));
  const patience = setTimeout(() => {
    met.ended = false;
    socket.destroy();
  }, patienceMs);
  for (const piece of pieces()) {
    if (met.answer !== '' || socket.destroyed) break;
    met.sent += piece.length;
    if (!socket.write(piece, 'latin1'))
      await Promise.race([once(socket, 'drain').catch(() => undefined), closed]);
  }
  await closed;
  clearTimeout(patience);
  met.status = Number(/^HTTP\/1\.1 (\d{3})/.exec(met.answer)?.[1]) || undefined;
  return met;
}

const MIB = 2 ** 20;
const MULTIPART = 'Content-Type: multipart/form-data; boundary=b\r\n';
const URLENCODED = 'Content-Type: application/x-www-form-urlencoded\r\n';
const CHUNKED = 'Transfer-Encoding: chunked\r\n';

function* endless(start: string, piece: string, bytes: number): Iterable<string> {
  yield start;
  for (let sent = 0; sent < bytes; sent += piece.length) yield piece;
}

/** Requests of somebody with an account, who comes further than others. @param authorization a header's value */
export function hostileRequests(authorization: string): HostileRequest[] {
  const head = `Host: inlet\r\nAuthorization: ${authorization}\r\nConnection: close\r\n`;
  const get = `GET /api/info/me HTTP/1.1\r\n${head}`;
  const upload = `POST /api/events HTTP/1.1\r\n${head}${MULTIPART}`;
  const series = `POST /api/series HTTP/1.1\r\n${head}`;
  const whole = (name: string, text: string, more: Partial<HostileRequest> = {}): HostileRequest => ({
    name,
    pieces: () => [text],
    ...more,
  });
  const withBody = (start: string, body: string) => `${start}Content-Length: ${body.length}\r\n\r\n${body}`;
  const chunk = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n`;
  const next = 'GET /api/smuggled HTTP/1.1\r\nHost: inlet\r\n\r\n';
  const odd = { harmless: true };

  return [
    // Two readers of one request that do not agree where it ends.
    whole('a length and chunks', `${series}${URLENCODED}Content-Length: 6\r\n${CHUNKED}\r\n0\r\n\r\n${next}`),
    whole('chunks and a length', `${series}${URLENCODED}${CHUNKED}Content-Length: 6\r\n\r\n0\r\n\r\n${next}`),
    whole('two lengths', `${series}${URLENCODED}Content-Length: 3\r\nContent-Length: 4\r\n\r\na=bc`),
    whole('two lengths in one', `${series}${URLENCODED}Content-Length: 3, 3\r\n\r\na=b`),
    whole('a length with a sign', `${series}${URLENCODED}Content-Length: +3\r\n\r\na=b`),
    whole('a length in hexadecimal', `${series}${URLENCODED}Content-Length: 0x3\r\n\r\na=b`),
    whole(
      'a length beyond all numbers',
      `${series}${URLENCODED}Content-Length: ${'9'.repeat(40)}\r\n\r\na=b`,
    ),
    whole('a blank before the colon', `${series}${URLENCODED}Content-Length : 3\r\n\r\na=b${next}`),
    whole(
      'chunks that are not last',
      `${series}${URLENCODED}Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n`,
    ),
    whole('an unknown encoding', `${series}${URLENCODED}Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n${next}`),
    whole('an encoding after a tab', `${series}${URLENCODED}Transfer-Encoding:\x0bchunked\r\n\r\n0\r\n\r\n`),
    whole('a folded header', `${get}Transfer-Encoding:\r\n chunked\r\n\r\n0\r\n\r\n`),
    whole('bare line feeds', get.replaceAll('\r\n', '\n').concat('\n')),
    whole('a bare carriage return', `${get}X-A: b\rX-C: d\r\n\r\n`),
    whole('a NUL in a header', `${get}X-A: a\0b\r\n\r\n`),
    whole('a header without a name', `${get}: a\r\n\r\n`),
    whole('chunks of no number', `${series}${URLENCODED}${CHUNKED}\r\nxyz\r\na=b\r\n0\r\n\r\n`),
    whole('chunks of a negative number', `${series}${URLENCODED}${CHUNKED}\r\n-3\r\na=b\r\n0\r\n\r\n`),
    whole('chunks of more than there is', `${series}${URLENCODED}${CHUNKED}\r\n${'f'.repeat(30)}\r\na=b`),
    whole('a chunk without an end', `${series}${URLENCODED}${CHUNKED}\r\n3\r\na=bXX0\r\n\r\n${next}`),
    whole('chunks that end in a line feed', `${series}${URLENCODED}${CHUNKED}\r\n3\na=b\n0\n\n`),
    // What is no request, or asks for another protocol.
    whole('HTTP/2 that nobody asked for', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0'),
    whole('TLS', '\x16\x03\x01\x02\0\x01\0\x01\xfc\x03\x03'),
    whole('HTTP/3.7', 'GET / HTTP/3.7\r\nHost: inlet\r\n\r\n'),
    whole('HTTP/0.9', 'GET /\r\n\r\n', odd),
    whole('CONNECT', `CONNECT inlet:80 HTTP/1.1\r\n${head}\r\n`),
    whole('TRACE', `TRACE / HTTP/1.1\r\n${head}\r\n`),
    whole(
      'an upgrade to HTTP/2',
      `${get}Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\n\r\n`,
      odd,
    ),
    // Where it is to go.
    ...['x/admin/queues?', 'a@b', 'a b', '', 'a,b'].map((host) =>
      whole(`the host '${host}'`, `GET /health/live HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`, {
        harmless: host === '',
      }),
    ),
    whole('two hosts', 'GET /health/live HTTP/1.1\r\nHost: a\r\nHost: b\r\nConnection: close\r\n\r\n'),
    whole('no host', 'GET /health/live HTTP/1.1\r\nConnection: close\r\n\r\n'),
    ...[
      '*',
      'api/info/me',
      '?',
      'ftp://inlet/',
      'http://a@b:x/',
      '/..',
      '/%2e%2e/',
      '/\\',
      '//inlet/../',
    ].map((target) => whole(`the target ${target}`, `GET ${target} HTTP/1.1\r\n${head}\r\n`)),
    // Too much of it.
    whole('an address of 1 MB', `GET /${'x'.repeat(MIB)} HTTP/1.1\r\n${head}\r\n`),
    whole('a header of 1 MB', `${get}X-A: ${'x'.repeat(MIB)}\r\n\r\n`),
    whole('100,000 headers', `${get}${'X-A: b\r\n'.repeat(100_000)}\r\n`),
    { name: 'headers without end', pieces: () => endless(get, `X-A: ${'x'.repeat(1000)}\r\n`, 64 * MIB) },
    {
      name: 'chunks of one byte',
      pieces: () => endless(`${upload}${CHUNKED}\r\n`, chunk('x').repeat(1000), 6 * 200_000),
    },
    {
      name: 'chunks of one byte in a form of texts',
      pieces: () => endless(`${series}${URLENCODED}${CHUNKED}\r\n`, chunk('x').repeat(1000), 6 * 200_000),
    },
    {
      name: 'chunks of one byte that nobody asked for',
      pieces: () =>
        endless(`POST /api/nothing HTTP/1.1\r\n${head}${CHUNKED}\r\n`, chunk('x').repeat(1000), 6 * 200_000),
    },
    {
      name: 'a chunk whose extension does not end',
      pieces: () => endless(`${upload}${CHUNKED}\r\n1;`, 'x'.repeat(10_000), 16 * MIB),
    },
    {
      name: 'a text of 40 MiB',
      pieces: () =>
        endless(
          `${upload}Content-Length: ${40 * MIB}\r\n\r\n--b\r\nContent-Disposition: form-data; name="acl"\r\n\r\n`,
          'x'.repeat(MIB / 4),
          40 * MIB,
        ),
    },
    {
      name: 'a form of texts of 40 MiB',
      pieces: () =>
        endless(
          `${series}${URLENCODED}Content-Length: ${40 * MIB}\r\n\r\nacl=`,
          'x'.repeat(MIB / 4),
          40 * MIB,
        ),
    },
    {
      name: 'a form of texts without end',
      pieces: () => endless(`${series}${URLENCODED}${CHUNKED}\r\n`, chunk('a=b&'.repeat(16_384)), 40 * MIB),
    },
    // Forms that are none.
    whole(
      'a form without a boundary',
      withBody(`POST /api/events HTTP/1.1\r\n${head}Content-Type: multipart/form-data\r\n`, '--b--'),
    ),
    whole(
      'a boundary of 10,000 characters',
      withBody(
        `POST /api/events HTTP/1.1\r\n${head}Content-Type: multipart/form-data; boundary=${'b'.repeat(10_000)}\r\n`,
        '--b--',
      ),
    ),
    whole('a form of nothing', withBody(upload, '--b--\r\n')),
    whole('a form that ends in its boundary', withBody(upload, '--b')),
    {
      name: 'a form that never begins',
      pieces: () =>
        endless(`${upload}Content-Length: ${40 * MIB}\r\n\r\n`, '\r\n--'.repeat(16_384), 40 * MIB),
    },
    {
      name: 'a form that is nearly its boundary',
      pieces: () =>
        endless(
          `${upload}Content-Length: ${40 * MIB}\r\n\r\n--b\r\nContent-Disposition: form-data; name="acl"\r\n\r\n`,
          '\r\n--bb'.repeat(16_384),
          40 * MIB,
        ),
    },
    {
      name: '100,000 parts',
      pieces: () =>
        endless(
          `${upload}Content-Length: ${40 * MIB}\r\n\r\n`,
          '--b\r\nContent-Disposition: form-data; name="a"\r\n\r\nx\r\n'.repeat(100),
          5 * MIB,
        ),
    },
    {
      name: '100,000 files of nothing',
      pieces: () =>
        endless(
          `${upload}${CHUNKED}\r\n`,
          chunk('--b\r\nContent-Disposition: form-data; name="a"; filename="b"\r\n\r\n\r\n'.repeat(100)),
          6 * MIB,
        ),
    },
    {
      name: 'a part with a head of 1 MB',
      pieces: () =>
        endless(`${upload}Content-Length: ${40 * MIB}\r\n\r\n--b\r\nX-A: `, 'x'.repeat(10_000), MIB),
    },
    {
      name: 'a part with 100,000 headers',
      pieces: () =>
        endless(`${upload}Content-Length: ${40 * MIB}\r\n\r\n--b\r\n`, 'X-A: b\r\n'.repeat(1000), MIB),
    },
    whole('a part without a head', withBody(upload, '--b\r\n\r\n[]\r\n--b--\r\n')),
    whole(
      'a form in a form',
      withBody(
        upload,
        '--b\r\nContent-Disposition: form-data; name="presenter"\r\nContent-Type: multipart/mixed; boundary=c\r\n\r\n--c\r\n\r\nx\r\n--c--\r\n--b--\r\n',
      ),
    ),
    whole(
      'a name of escapes without end',
      withBody(
        upload,
        `--b\r\nContent-Disposition: form-data; name="${'\\"'.repeat(7000)}\r\n\r\n\r\n--b--\r\n`,
      ),
    ),
    whole(
      'a form that is XML',
      withBody(`POST /api/events HTTP/1.1\r\n${head}Content-Type: application/xml\r\n`, '<a/>'),
    ),
    whole('a body that stops', `${upload}Content-Length: 1000\r\n\r\n--b\r\n`),
    // Texts that are small, and not what is made of them.
    ...['[', '{"a":'].map((deep) =>
      whole(
        `JSON of 100,000 times ${deep}`,
        withBody(`${series}${URLENCODED}`, `acl=[]&metadata=${encodeURIComponent(deep.repeat(100_000))}`),
      ),
    ),
    whole(
      'JSON with a number of 900,000 digits',
      withBody(`${series}${URLENCODED}`, `acl=[]&metadata=[${'9'.repeat(900_000)}]`),
    ),
    whole('100,000 fields', withBody(`${series}${URLENCODED}`, 'a=b&'.repeat(100_000))),
    whole('escapes that are none', withBody(`${series}${URLENCODED}`, `metadata=${'%'.repeat(900_000)}`)),
  ];
}
