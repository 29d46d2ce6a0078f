import { Hono } from 'hono';
import { expect, test } from 'vitest';
import { offer } from './challenges.ts';
import { Nonces } from './digest/nonces.ts';
import { DigestVerifier } from './digest/verifier.ts';

const BASIC = 'Basic realm="Opencast"';
const digest = new DigestVerifier({
  directory: { findAgent: async () => undefined },
  nonces: new Nonces(async () => Buffer.alloc(32, 7)),
  publicUrl: 'http://inlet.test',
});
const app = new Hono().get('/', async (c) => c.text(await offer(c, digest)));
const offered = async (headers: Record<string, string> = {}) => (await app.request('/', { headers })).text();

/** `parse_http_list` and `parse_dict_header` of python-requests, which takes off one scheme and knows no second one. */
function readAsPythonRequests(header: string): Map<string, string> {
  const list = header.replace(/digest /i, '').match(/(?:[^,"]|"(?:[^"\\]|\\.)*")+/g) ?? [];
  return new Map(
    list.map((item) => {
      const [name = '', value = ''] = item.trim().split(/=(.*)/s);
      return [name, value.replace(/^"(.*)"$/s, '$1')];
    }),
  );
}

/** libcurl takes all that follows the first `Digest` of a line for its parameters, and stops at an algorithm it does not know. */
function readAsLibcurl(header: string): Map<string, string> {
  const found = new Map<string, string>();
  const pair = /\s*([^=]*)=(?:"((?:[^"\\]|\\.)*)"|([^,\s]*)),?/y;
  pair.lastIndex = header.indexOf('Digest ') + 'Digest '.length;
  for (let match = pair.exec(header); match; match = pair.exec(header)) {
    const value = match[2] ?? match[3] ?? '';
    if (match[1] === 'algorithm' && value !== 'MD5')
      throw new Error('Authentication problem. Ignoring this.');
    found.set(match[1] ?? '', value);
  }
  return found;
}

test.each([
  ['python-requests', readAsPythonRequests],
  ['libcurl', readAsLibcurl],
])('%s finds in what programs are offered all that it needs, and nothing twice', async (_name, read) => {
  const header = await offered({ Accept: '*/*' });
  const found = read(header);
  expect(Object.fromEntries(found)).toEqual({
    realm: 'Opencast',
    qop: 'auth',
    nonce: expect.stringMatching(/^[\w-]+$/),
    algorithm: 'MD5',
    'Basic realm': 'Opencast',
  });
  const names = [...header.matchAll(/(?:^|, )(?:Digest )?([a-z]+)=/g)].map(([, name]) => name);
  expect(names).toEqual(['realm', 'qop', 'nonce', 'algorithm']);
});

test.each([
  [{ Accept: 'text/html,application/xhtml+xml,*/*;q=0.8', 'User-Agent': 'Mozilla/5.0 (X11; Linux x86_64)' }],
  [{ 'Sec-Fetch-Site': 'same-origin' }],
  [{ Origin: 'https://studio.example.org' }],
  [{ 'X-Requested-Auth': 'basic' }],
  [{ Authorization: 'Digest x' }],
  [{ Authorization: 'Basic YTpi' }],
  [{ Authorization: 'basic YTpi', Accept: '*/*' }],
])('%j is offered Basic alone', async (headers) => {
  expect(await offered(headers as unknown as Record<string, string>)).toBe(BASIC);
});

test('a program on Java, which accepts pages as browsers do, is offered both', async () => {
  const Accept = 'text/html, image/gif, image/jpeg, *; q=.2, */*; q=.2';
  expect(await offered({ Accept, 'User-Agent': 'Java/17.0.9' })).toMatch(
    /^Digest .*, Basic realm="Opencast"$/,
  );
  expect(await offered({ Accept })).toMatch(/^Digest /);
});

test.each([
  [{}],
  [{ Accept: 'text/html', 'User-Agent': 'Mozilla/5.0' }],
  [{ Authorization: 'Digest x' }],
  [{ Authorization: 'Basic YTpi' }],
])('X-Requested-Auth: Digest with %j is heard', async (headers) => {
  const header = await offered({ 'X-Requested-Auth': 'Digest', ...(headers as Record<string, string>) });
  expect(header).toMatch(/^Digest realm="Opencast", qop="auth", nonce="[\w-]+", algorithm=MD5$/);
});

test('while the database that has the key is away, Basic is offered', async () => {
  const away = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
  const nonces = new Nonces(() => Promise.reject(away));
  const lonely = new DigestVerifier({
    directory: { findAgent: async () => undefined },
    nonces,
    publicUrl: 'http://inlet.test',
  });
  const answer = await new Hono().get('/', async (c) => c.text(await offer(c, lonely))).request('/');
  expect(await answer.text()).toBe(BASIC);
});
