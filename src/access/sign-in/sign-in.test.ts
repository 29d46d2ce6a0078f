import { randomBytes, scryptSync } from 'node:crypto';
import { Hono } from 'hono';
import { beforeEach, describe, expect, test } from 'vitest';
import { handleErrors } from '#platform/http/app/error-handler.ts';
import { requestContext } from '#platform/http/app/request-context.ts';
import { silentLogger } from '#platform/telemetry/log.ts';
import { anonymous, type Principal } from '../principal.ts';
import { authenticate, challengeFor, parseBasic } from './authentication.ts';
import { Authenticator } from './authenticator.ts';
import { DigestVerifier, Nonces } from './digest/digest-verifier.ts';
import { VerifiedCredentialsCache } from './verified-credentials.ts';

/** Nobody but `ada` with the password `right`, whose hashes cost next to nothing. */
const key = scryptSync('right', Buffer.from('AAAA', 'base64url'), 32, { N: 2, r: 1, p: 1 });
const passwordHash = `scrypt$N=2,r=1,p=1$AAAA$${key.toString('base64url')}`;
const directory = {
  find: async (username: string) =>
    username === 'ada' ? { principal: anonymous, passwordHash, credential: passwordHash } : undefined,
  findAgent: async () => undefined,
  withGroups: async (principal: Principal) => principal,
  adminHash: async () => passwordHash,
};
const digestWith = (nonces: Nonces) => new DigestVerifier({ directory, nonces, publicUrl: 'http://inlet.test' });
const digest = digestWith(new Nonces(async () => Buffer.alloc(32, 7)));
const basic = (text: string | Uint8Array, scheme = 'Basic') => `${scheme} ${Buffer.from(text).toString('base64')}`;

test('guesses are answered with 429 after a while, for the account and the address they were made for', async () => {
  const app = new Hono();
  app.use(requestContext(silentLogger));
  handleErrors(app);
  app.use(authenticate({ directory, authenticator: new Authenticator(directory), digest }));
  const guess = async (username: string, remoteAddress: string, password: string) =>
    app.request('/', { headers: { Authorization: basic(`${username}:${password}`) } }, { remoteAddress });
  for (let i = 0; i < 20; i += 1) expect((await guess('ada', '192.0.2.1', `${i}`)).status).toBe(401);
  const refused = await guess('ada', '192.0.2.1', '20');
  expect([refused.status, await refused.text()]).toEqual([429, 'Too many wrong passwords; try again later.']);
  expect(refused.headers.get('Retry-After')).toMatch(/^\d+$/);
  expect((await guess('ada', '192.0.2.2', '20')).status).toBe(401);
  expect((await guess('bob', '192.0.2.1', '20')).status).toBe(401);
});

describe('who guesses', () => {
  let now = 0;
  let authenticator: Authenticator;
  beforeEach(() => {
    authenticator = new Authenticator(directory, () => now);
  });
  /** Signs in, or says with which status that is refused. */
  const ask = (username: string, password: string, address = 'a') =>
    authenticator.authenticate(username, password, address).catch((error) => error.status);
  const ada = (password: string, address?: string) => ask('ada', password, address);
  const guess = async (times: number) => {
    for (let i = 0; i < times; i += 1) expect(await ada(`guess ${i}`)).toBeUndefined();
  };
  const many = <T>(length: number, work: (i: number) => Promise<T>) =>
    Promise.all(Array.from({ length }, (_, i) => work(i)));
  const times = (answers: unknown[], answer: unknown) => answers.filter((each) => each === answer).length;

  test('is stopped per account and address from the last success on, and known credentials never', async () => {
    await guess(19);
    expect(await ada('right')).toBe(anonymous);
    await guess(20);
    for (const seconds of ['60', '30']) {
      await expect(authenticator.authenticate('ada', 'guess 20', 'a')).rejects.toMatchObject({
        ...{ status: 429, headers: { 'Retry-After': seconds } },
      });
      expect(await ada('right')).toBe(anonymous);
      expect(await ada('guess 20', 'b')).toBeUndefined();
      now += 30_000;
    }
    expect(await ada('guess 20')).toBeUndefined();
    expect(await ada('right')).toBe(anonymous);
  });

  test('is counted for each request that waits for the same wrong password, at its address', async () => {
    const twenty = Array.from({ length: 20 }, () => ada('wrong'));
    expect(await Promise.all([...twenty, ada('wrong', 'b')])).toEqual(Array(21).fill(undefined));
    expect([await ada('wrong'), await ada('wrong', 'b')]).toEqual([429, undefined]);
  });

  test('does not learn from another address whether a guess is right', async () => {
    await guess(20);
    const elsewhere = ada('right', 'b');
    expect(await ada('right')).toBe(429);
    expect(await elsewhere).toBe(anonymous);
  });

  test('does not learn whether a guess is right from who signed in before', async () => {
    expect(await ada('right', 'b')).toBe(anonymous);
    await guess(20);
    for (const way of ['authenticate', 'signIn'] as const) {
      await expect(authenticator[way]('ada', 'right', 'a')).rejects.toMatchObject({ status: 429 });
      expect(await authenticator[way]('ada', 'right', 'b')).toBeDefined();
    }
  });

  test('has twenty guesses that come all at once, and many requests with the right password are all answered', async () => {
    const answers = await many(60, (i) => ada(`guess ${i}`));
    expect([times(answers, undefined), times(answers, 429)]).toEqual([20, 40]);
    now += 60_000;
    expect(await many(60, () => ada('right'))).toEqual(Array(60).fill(anonymous));
  });

  test('one account after the other from one network has to wait, and nobody else', async () => {
    for (let i = 0; i < 200; i += 1)
      expect(await ask(`nobody ${i}`, 'x', `2001:db8::${i.toString(16)}`)).toBeUndefined();
    expect(await ask('nobody 200', 'x', '2001:db8::ffff')).toBe(429);
    expect(await ask('nobody 200', 'x', '2001:db8:0:1::1')).toBeUndefined();
  });

  test('from one network does not have all the places of those who wait to sign in', async () => {
    const flood = many(80, (i) => ask(`nobody ${i}`, 'x'));
    expect(await ada('right', 'b')).toBe(anonymous);
    expect(times(await flood, 503)).toBe(80 - 2 - 32);
  });

  test('as more than can wait is refused, and all others answered', async () => {
    const answers = await many(80, (i) => ask(`nobody ${i}`, 'x', `${i}`));
    expect([times(answers, 503), times(answers, undefined)]).toEqual([80 - 2 - 64, 2 + 64]);
    expect(await ada('right')).toBe(anonymous);
  });

  test('an unknown user is not let in by the password whose hash stands in for its own', async () => {
    expect(await ask('nobody', 'right')).toBeUndefined();
  });
});

describe('verified credentials', () => {
  test('are told apart by where the name ends, and differ between processes', () => {
    const cache = new VerifiedCredentialsCache<string>();
    expect(cache.digest('a', 'bc')).toBe(cache.digest('a', 'bc'));
    expect(cache.digest('ab', 'c')).not.toBe(cache.digest('a', 'bc'));
    expect(new VerifiedCredentialsCache().digest('a', 'bc')).not.toBe(cache.digest('a', 'bc'));
  });

  test('that were used longest ago are forgotten first', () => {
    const cache = new VerifiedCredentialsCache<string>(2);
    for (const name of ['a', 'b']) cache.set(name, name);
    cache.get('a');
    cache.set('c', 'c');
    expect(['a', 'b', 'c'].map((name) => cache.get(name))).toEqual(['a', undefined, 'c']);
  });
});

describe('HTTP Basic', () => {
  test.each([
    [basic('ada:secret'), 'ada', 'secret'],
    [basic('ada:a:b:'), 'ada', 'a:b:'],
    [basic('müller:Grüße'), 'müller', 'Grüße'],
    [basic('ada:'), 'ada', ''],
    [basic('ada:secret', 'bAsIc'), 'ada', 'secret'],
    [basic('ada:secret').replace(/=+$/, ''), 'ada', 'secret'],
  ])('%s', (header, username, password) => {
    expect(parseBasic(header)).toEqual({ username, password });
  });

  test.each([
    ...['', 'Basic', 'Basic ', 'Bearer YTpi', 'Basic !!!!', 'Basic YTpi YTpi'],
    ...['no colon', ':nameless', 'ada:nul\0', 'a\0da:secret'].map((text) => basic(text)),
    basic(new Uint8Array([0x61, 0x3a, 0xff])),
  ])('%j is not understood', (header) => {
    expect(parseBasic(header)).toBeUndefined();
  });
});

describe('the challenge', () => {
  const BASIC = 'Basic realm="Opencast"';
  const offered = async (headers: Record<string, string> = {}, by = digest) => {
    const app = new Hono().get('/', async (c) => c.text(await challengeFor(c, by)));
    return (await app.request('/', { headers })).text();
  };

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
      const [, name = '', quoted, plain = ''] = match;
      const value = quoted ?? plain;
      if (name === 'algorithm' && value !== 'MD5') throw new Error('Authentication problem. Ignoring this.');
      found.set(name, value);
    }
    return found;
  }

  test.each([
    ['python-requests', readAsPythonRequests],
    ['libcurl', readAsLibcurl],
  ])('holds all that %s needs, and nothing twice', async (_name, read) => {
    const header = await offered({ Accept: '*/*' });
    expect(Object.fromEntries(read(header))).toEqual({
      ...{ realm: 'Opencast', qop: 'auth', algorithm: 'MD5', 'Basic realm': 'Opencast' },
      nonce: expect.stringMatching(/^[\w-]+$/),
    });
    const names = [...header.matchAll(/(?:^|, )(?:Digest )?([a-z]+)=/g)].map(([, name]) => name);
    expect(names).toEqual(['realm', 'qop', 'nonce', 'algorithm']);
  });

  test.each<Record<string, string>>([
    { Accept: 'text/html,application/xhtml+xml,*/*;q=0.8', 'User-Agent': 'Mozilla/5.0 (X11; Linux x86_64)' },
    { 'Sec-Fetch-Site': 'same-origin' },
    { Origin: 'https://studio.example.org' },
    { 'X-Requested-Auth': 'basic' },
    { Authorization: 'Digest x' },
    { Authorization: 'Basic YTpi' },
    { Authorization: 'basic YTpi', Accept: '*/*' },
  ])('%j is offered Basic alone', async (headers) => {
    expect(await offered(headers)).toBe(BASIC);
  });

  test('a program on Java, which accepts pages as browsers do, is offered both', async () => {
    const Accept = 'text/html, image/gif, image/jpeg, *; q=.2, */*; q=.2';
    expect(await offered({ Accept, 'User-Agent': 'Java/17.0.9' })).toMatch(/^Digest .*, Basic realm="Opencast"$/);
    expect(await offered({ Accept })).toMatch(/^Digest /);
  });

  test.each<Record<string, string>>([
    {},
    { Accept: 'text/html', 'User-Agent': 'Mozilla/5.0' },
    { Authorization: 'Digest x' },
    { Authorization: 'Basic YTpi' },
  ])('X-Requested-Auth: Digest with %j is heard', async (headers) => {
    expect(await offered({ 'X-Requested-Auth': 'Digest', ...headers })).toMatch(
      /^Digest realm="Opencast", qop="auth", nonce="[\w-]+", algorithm=MD5$/,
    );
  });

  test('is Basic while the database that has the key is away', async () => {
    const away = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
    expect(await offered({}, digestWith(new Nonces(() => Promise.reject(away))))).toBe(BASIC);
  });

  test('a nonce that somebody made is not good', async () => {
    const own = randomBytes(32);
    const nonces = new Nonces(async () => own);
    const nonce = await nonces.issue();
    expect(nonce).toMatch(/^[\w-]{20,60}$/);
    expect(await nonces.issue()).not.toBe(nonce);
    const [second = '', chance = '', signature = ''] = nonce.split(/-(\w+)-(.*)/s);
    const later = (Number.parseInt(second, 36) + 1).toString(36);
    const tampered = `${signature.startsWith('A') ? 'B' : 'A'}${signature.slice(1)}`;
    for (const forged of [
      `${later}-${chance}-${signature}`,
      `${second}-${'0'.repeat(16)}-${signature}`,
      ...[tampered, signature.slice(1), ''].map((each) => `${second}-${chance}-${each}`),
      await new Nonces(async () => randomBytes(32)).issue(),
      second,
      '',
    ]) {
      expect([forged, await nonces.isGood(forged)]).toEqual([forged, false]);
    }
    expect(await nonces.isGood(nonce)).toBe(true);
  });
});
