import { beforeAll, describe, expect, test } from 'vitest';
import type { PublicationJson } from '../../support/client.ts';
import { recording } from '../../support/clips.ts';
import { eventFields, file } from '../../support/form.ts';
import { exchange, parseAnswer, type RawAnswer } from '../../support/raw-http.ts';
import type { Suite } from '../suite.ts';

const UNKNOWN = 'The resource you requested does not exist.';
const NO_METHOD = 'Method not allowed.';

/** What is sent, each with the status and the beginning of the body that answer it. */
const answered = (status: number, body: string, sent: string[]) => sent.map((each) => [each, status, body] as const);

/** What libraries resolve before they send it: no other resource answers in its place. */
const TARGETS = [
  ...answered(400, "The path must hold no segment '.' or '..'; relative paths are not resolved.", [
    ...['/api/events/.', '/api/events/..', '/api/events/../', '/api/events/../series'],
    ...['/api/events/x/../../series?limit=1', '/api/events/%2e%2e', '/api/events/%2E./series', '/api/%2e/events'],
    ...['/./api', '/../api', '/docs/./', '/publications/../../etc/passwd', 'http://inlet/api/events/..'],
  ]),
  ...answered(400, 'The path must hold no backslash.', ['/api\\events', '/api/events\\..\\series']),
  ...answered(400, 'The request target must be an absolute path or a URL.', [
    ...['HTTP://inlet/api/events', 'ftp://inlet/api/events', 'http://inlet:99999/api/events'],
  ]),
  ...answered(404, "Cannot find an event with id '../series'.", ['/api/events/%2e%2e%2fseries']),
  ...answered(404, "Cannot find an event with id '...'.", ['/api/events/...']),
  ...answered(404, "Cannot find an event with id '\\..'.", ['/api/events/%5c..']),
  ...answered(404, UNKNOWN, ['/api/events/..;/series', '//api/events', '/api//events', '/api/events//']),
  ...answered(200, '{', [
    ...['/api/listproviders/LANGUAGES.json#x', '/api/listproviders/LANGUAGES.json?filter=/../&x=\\'],
    ...['/api/listproviders/LANGUAGES.json/', 'http://inlet/api/listproviders/LANGUAGES.json'],
    'https://elsewhere.example:8443/api/listproviders/LANGUAGES.json',
  ]),
];

/** Hosts that a path, or nothing at all, could be read out of. */
const HOSTS = [
  ...answered(400, "The header 'Host' must be a name or an address, optionally with a port.", [
    ...['inlet/x', 'inlet?x', 'inlet#x', 'inlet\\x', 'someone@inlet', 'in let', 'inlet:99999'],
  ]),
  // Names that every object of JavaScript has.
  ...answered(200, '{', ['[::1]:8080', 'INLET:8080', 'inlet\r\nconstructor: x', 'inlet\r\n__proto__: x']),
];

export const targets: Suite = (product) => {
  const ask = async (line: string, { host = 'inlet' }: { host?: string } = {}): Promise<RawAnswer> => {
    const { server, admin } = product();
    const headers = `Host: ${host}\r\nAuthorization: ${admin.authorization}\r\nConnection: close\r\n`;
    return parseAnswer((await exchange(server.url, `${line} HTTP/1.1\r\n${headers}\r\n`)).answer);
  };

  describe('an address', () => {
    test.each(TARGETS)('%s is answered with %i: %s', async (target, status, body) => {
      for (const method of ['GET', 'HEAD']) {
        const answer = await ask(`${method} ${target}`);
        expect([method, answer.status]).toEqual([method, status]);
        if (status >= 400) expect(answer.headers['content-type']).toBe('text/plain; charset=utf-8');
        expect(answer.rest.slice(0, body.length)).toBe(method === 'GET' ? body : '');
      }
    });

    test.each(HOSTS)('under the host %s is answered with %i', async (host, status, body) => {
      const answer = await ask('GET /api/listproviders/LANGUAGES.json', { host });
      expect(answer.status).toBe(status);
      expect(answer.rest.slice(0, body.length)).toBe(body);
    });

    test('is answered without a host for a client of HTTP/1.0', async () => {
      const { server } = product();
      const { answer } = await exchange(server.url, 'GET /health/live HTTP/1.0\r\n\r\n');
      expect(parseAnswer(answer).status).toBe(200);
    });
  });

  describe('HEAD', () => {
    let id: string;
    let publication: PublicationJson;
    beforeAll(async () => {
      const { admin } = product();
      const clip = await recording({ seconds: 1 });
      id = await admin.create([...eventFields(), file('presenter', 'lecture.mp4', clip)]);
      await admin.processed(id);
      [publication] = (await admin.publications(id)) as [PublicationJson];
    });

    const pathOf = (url: string | undefined) => new URL(url ?? '').pathname;
    test.each<[string, () => string, number]>([
      ['the first page', () => '/', 200],
      ['the API', () => '/api', 200],
      ['a list', () => '/api/events?limit=1&withmetadata=true', 200],
      ['an event', () => `/api/events/${id}`, 200],
      ['an event that is not there', () => '/api/events/nobody', 404],
      ['what has no content', () => `/api/events/${id}/scheduling`, 204],
      ['the watch page', () => pathOf(publication.url), 200],
      ['a published file', () => pathOf(publication.media[0]?.url), 200],
      ['the reference page', () => '/docs', 200],
      ['the document', () => '/api/openapi.json', 200],
      ['health', () => '/health/live', 200],
      ['the dashboard', () => '/admin/queues', 200],
      ['what does not know it', () => '/api/security/sign', 405],
      ['nothing', () => '/nothing', 404],
    ])('of %s says what GET says, and ends there', async (_name, path, status) => {
      const { server, admin } = product();
      const got = await ask(`GET ${path()}`);
      const headers = `Host: inlet\r\nAuthorization: ${admin.authorization}\r\n`;
      const requests = [`HEAD ${path()}`, 'GET /health/live'].map((line) => `${line} HTTP/1.1\r\n${headers}`);
      const { answer: answers } = await exchange(server.url, `${requests.join('\r\n')}Connection: close\r\n\r\n`);
      const head = parseAnswer(answers);
      expect([head.status, got.status]).toEqual([status, status]);
      expect(saidOf(head)).toEqual(saidOf(got));
      if (status !== 204) expect(Number(head.headers['content-length'])).toBe(lengthOf(got));
      // The next answer on the same connection follows at once.
      expect(parseAnswer(head.rest).rest).toContain('"status"');
    });
  });

  describe('OPTIONS', () => {
    test.each([
      ['/', 405, 'GET, HEAD'],
      ['/api', 405, 'GET, HEAD'],
      ['/api/events/x/scheduling', 405, 'GET, HEAD, PUT'],
      ['/api/security/sign', 405, 'POST'],
      ['/docs', 405, 'GET, HEAD'],
      ['/health/live', 405, 'GET, HEAD'],
      ['/nothing', 404, undefined],
      ['*', 404, undefined],
    ])('%s is answered with %i and allows %s', async (target, status, allow) => {
      const answer = await ask(`OPTIONS ${target}`);
      expect([answer.status, answer.rest]).toEqual([status, status === 404 ? UNKNOWN : NO_METHOD]);
      expect(answer.headers.allow).toBe(allow);
    });

    test('of a published file tells players on other sites what they may do', async () => {
      const { status, headers, rest } = await ask('OPTIONS /publications/a/b/c');
      expect([status, rest]).toEqual([204, '']);
      expect(headers).toMatchObject({
        'access-control-allow-origin': '*',
        'access-control-allow-methods': 'GET,HEAD',
        'access-control-allow-headers': 'Range,If-Range,If-None-Match',
      });
    });
  });
};

/** The headers of an answer but for those of the connection, the length and what is new in every answer. */
function saidOf({ headers }: RawAnswer): Record<string, string> {
  const own = ['connection', 'keep-alive', 'date', 'x-request-id', 'content-length', 'transfer-encoding'];
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !own.includes(name)));
}

/** Bytes of the body, in chunks or not. */
function lengthOf({ headers, rest }: RawAnswer): number {
  if (headers['transfer-encoding'] !== 'chunked') return rest.length;
  let length = 0;
  for (let at = 0; ; ) {
    const line = rest.indexOf('\r\n', at);
    const size = Number.parseInt(rest.slice(at, line), 16);
    if (!size) return length;
    length += size;
    at = line + 2 + size + 2;
  }
}
