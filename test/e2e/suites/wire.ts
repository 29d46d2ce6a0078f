import { describe, expect, test } from 'vitest';
import { exchange } from '../../support/raw-http.ts';
import type { Suite } from '../suite.ts';

const HEAD = 'Host: inlet\r\nConnection: close\r\n';
const FORM = 'Content-Type: application/x-www-form-urlencoded\r\n';

/** What no HTTP library would send, and whether a handler of the application may get to see it. */
const REQUESTS: readonly (readonly [name: string, request: string])[] = [
  ['no HTTP at all', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03'],
  ['an unknown method', `BREW /api/events HTTP/1.1\r\n${HEAD}\r\n`],
  ['a NUL in the address', `GET /api/events/a\0b HTTP/1.1\r\n${HEAD}\r\n`],
  ['bytes beyond ASCII in the address', `GET /api/events/\xff\xfe HTTP/1.1\r\n${HEAD}\r\n`],
  ['a percent sign without digits', `GET /api/events/%?filter=% HTTP/1.1\r\n${HEAD}\r\n`],
  ['folders that go up', `GET /publications/../../../../etc/passwd HTTP/1.1\r\n${HEAD}\r\n`],
  ['encoded folders that go up', `GET /publications/%2e%2e/%2e%2e%2fetc/passwd HTTP/1.1\r\n${HEAD}\r\n`],
  ['an address of another server', `GET http://elsewhere.example/api HTTP/1.1\r\n${HEAD}\r\n`],
  ['an address of 100 kB', `GET /api/events/${'x'.repeat(100_000)} HTTP/1.1\r\n${HEAD}\r\n`],
  ['a header of 100 kB', `GET /api HTTP/1.1\r\n${HEAD}Accept: ${'x'.repeat(100_000)}\r\n\r\n`],
  ['5000 headers', `GET /api HTTP/1.1\r\n${HEAD}${'X-Y: z\r\n'.repeat(5000)}\r\n`],
  ['a NUL in a header', `GET /api HTTP/1.1\r\n${HEAD}Accept: a\0b\r\n\r\n`],
  ['two lengths', `POST /api/series HTTP/1.1\r\n${HEAD}${FORM}Content-Length: 1\r\nContent-Length: 9\r\n\r\nmetadata=`],
  ['a negative length', `POST /api/series HTTP/1.1\r\n${HEAD}${FORM}Content-Length: -1\r\n\r\n`],
  [
    'a length and chunks',
    `POST /api/series HTTP/1.1\r\n${HEAD}${FORM}Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
  ],
  [
    'chunks of no size',
    `POST /api/series HTTP/1.1\r\n${HEAD}${FORM}Transfer-Encoding: chunked\r\n\r\nzz\r\nmetadata=\r\n`,
  ],
];

/** Deno ends the connection without a word; and what a server says before it has read everything may be lost. */
const HUNG_UP_ON = ['chunks of no size', 'an address of 100 kB', 'a header of 100 kB', '5000 headers'];

export const wire: Suite = (product) => {
  describe('what is not HTTP as it should be', () => {
    test.each(REQUESTS)('%s is refused or answered, and the server goes on', async (name, request) => {
      const { server, admin } = product();
      const { answer, closed } = await exchange(server.url, request);
      expect(closed, 'the server is done with it').toBe(true);
      if (answer !== '' || !HUNG_UP_ON.includes(name)) expect(answer).toMatch(/^HTTP\/1\.[01] [234]\d\d/);
      expect(answer).not.toMatch(/root:|\bat .*\.[jt]s|node_modules/);
      expect((await admin.fetch('/api/info/me')).status).toBe(200);
    });
  });
};
