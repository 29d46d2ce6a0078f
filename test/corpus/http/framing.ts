import { CHUNKED, type HostileRequest, odd, type Starts, URLENCODED, whole } from './request.ts';

/** Two readers of one request that do not agree where it ends; and what is no request, or asks for another protocol. */
export function framing({ head, get, series, next }: Starts): HostileRequest[] {
  return [
    // Two readers of one request that do not agree where it ends.
    whole('a length and chunks', `${series}${URLENCODED}Content-Length: 6\r\n${CHUNKED}\r\n0\r\n\r\n${next}`),
    whole('chunks and a length', `${series}${URLENCODED}${CHUNKED}Content-Length: 6\r\n\r\n0\r\n\r\n${next}`),
    whole('two lengths', `${series}${URLENCODED}Content-Length: 3\r\nContent-Length: 4\r\n\r\na=bc`),
    whole('two lengths in one', `${series}${URLENCODED}Content-Length: 3, 3\r\n\r\na=b`),
    whole('a length with a sign', `${series}${URLENCODED}Content-Length: +3\r\n\r\na=b`),
    whole('a length in hexadecimal', `${series}${URLENCODED}Content-Length: 0x3\r\n\r\na=b`),
    whole('a length beyond all numbers', `${series}${URLENCODED}Content-Length: ${'9'.repeat(40)}\r\n\r\na=b`),
    whole('a blank before the colon', `${series}${URLENCODED}Content-Length : 3\r\n\r\na=b${next}`),
    whole('chunks that are not last', `${series}${URLENCODED}Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n`),
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
  ];
}
