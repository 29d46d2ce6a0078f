import { CHUNKED, type HostileRequest, MULTIPART, odd, type Starts, URLENCODED, whole, withBody } from './request.ts';

const WEBSOCKET =
  'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n';
const MANY = Array.from({ length: 2_000 }, (_, i) => `${i * 2}-${i * 2}`).join(',');

/** Headers twice, headers that ask for what is not there, and such as lead elsewhere. */
export function headers({ head, get, upload, series }: Starts): HostileRequest[] {
  const file = `GET /docs/favicon-32x32.png HTTP/1.1\r\n${head}`;
  return [
    whole('two accounts', `${get}Authorization: Basic eDp5\r\n\r\n`, odd),
    whole(
      'an account that is none',
      'GET /api/info/me HTTP/1.1\r\nHost: inlet\r\nConnection: close\r\nAuthorization: Basic ÿÿÿ\r\n\r\n',
      {
        statuses: [400, 401],
      },
    ),
    whole('two content types', withBody(`${series}${URLENCODED}${MULTIPART}`, 'a=b')),
    whole('a content type of nothing', withBody(`${series}Content-Type: \r\n`, 'a=b')),
    whole(
      'a coding of the content that nobody asked for',
      withBody(`${series}${URLENCODED}Content-Encoding: gzip\r\n`, '\x1f\x8b\x08'),
    ),
    whole('an unknown expectation', `${series}${URLENCODED}Expect: 200-ok\r\nContent-Length: 3\r\n\r\na=b`),
    whole('two expectations', `${upload}Expect: 100-continue, 100-continue\r\nContent-Length: 3\r\n\r\n--b`),
    whole('an expectation without a body', `${get}Expect: 100-continue\r\n\r\n`, odd),
    whole('an upgrade to WebSocket', `${get}${WEBSOCKET}\r\n\x81\x05hello`, odd),
    whole('an upgrade of an upload', `${upload}${WEBSOCKET}${CHUNKED}\r\n0\r\n\r\n`),
    ...['bytes=5-2', 'bytes=-0', 'bytes=', 'bytes=a-b', `bytes=0-${'9'.repeat(40)}`, 'lines=1-2', `bytes=${MANY}`].map(
      (range) => whole(`the range ${range.slice(0, 20)}`, `${file}Range: ${range}\r\n\r\n`, odd),
    ),
    whole('a date that is none', `${file}If-Modified-Since: yesterday\r\nIf-Unmodified-Since: \xff\r\n\r\n`, odd),
    whole('a hundred thousand tags', `${get}If-None-Match: ${'"a",'.repeat(2_000)}"b"\r\n\r\n`, odd),
    whole('a method that is to be another', `${get}X-HTTP-Method-Override: DELETE\r\n\r\n`, odd),
    whole(
      'an address that is to be another',
      `${get}X-Original-URL: /admin/queues\r\nX-Rewrite-URL: /admin\r\n\r\n`,
      odd,
    ),
    whole(
      'a host behind a proxy that leads elsewhere',
      `${get}X-Forwarded-Host: evil.example\r\nForwarded: host=evil.example\r\n\r\n`,
      odd,
    ),
    whole('roles that are no text', `${get}X-RUN-WITH-ROLES: \xc3\x28,\x80\r\n\r\n`, odd),
    whole('an account to act as that is no text', `${get}X-RUN-AS-USER: \xc3\x28\r\n\r\n`),
    whole(
      'a key of 10,000 characters',
      withBody(`${series}${URLENCODED}Idempotency-Key: ${'k'.repeat(10_000)}\r\n`, 'a=b'),
    ),
    whole('cookies without end', `${get}Cookie: ${'a=b; '.repeat(1_500)}\r\n\r\n`, odd),
    whole('an unknown method', `BREW /api/events HTTP/1.1\r\n${head}\r\n`),
    whole('a method in lower case', `get /api/info/me HTTP/1.1\r\n${head}\r\n`),
  ];
}
