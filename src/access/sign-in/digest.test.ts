import { describe, expect, test } from 'vitest';
import { digestOf, digestSecrets } from '../accounts/secrets.ts';
import {
  type DigestAnswer,
  expectedResponse,
  isValidResponse,
  matchesTarget,
  parseDigest,
} from './digest/digest-verifier.ts';

describe('an answer', () => {
  const MD5 = '8ca523f5e9506fed4657c9700eebdbec';
  const LEAST = `username="hall", realm="Opencast", nonce="n-1", uri="/a?b=1,2", response="${MD5}"`;
  const WHOLE = `${LEAST}, algorithm=MD5, qop=auth, nc=00000002, cnonce="c"`;
  const known = { username: 'hall', nonce: 'n-1', uri: '/a?b=1,2', response: MD5, algorithm: 'MD5' };
  const protection = { qop: 'auth', nc: '00000002', cnonce: 'c' };
  const OTHER = WHOLE.replace('username', 'UserName').replace('MD5', 'md5').replace(MD5, MD5.toUpperCase());

  test.each([
    ['with all there is', WHOLE],
    ['quoted throughout', `${LEAST}, algorithm="MD5", qop="auth", nc="00000002", cnonce="c"`],
    ['quoted where it must be', WHOLE.replace('"hall"', 'hall').replace('"n-1"', 'n-1')],
    ['with blanks and none', WHOLE.replaceAll(', ', ' ,\t').replaceAll('=MD5', ' = MD5')],
    ['in other letters', OTHER],
    ['with what nobody knows', `${WHOLE}, opaque="", auth-param=x, userhash=false`],
    ['without an algorithm', WHOLE.replace(', algorithm=MD5', '')],
  ])('%s is read', (_name, parameters) => {
    for (const scheme of ['Digest ', 'digest  ', ' DIGEST '])
      expect(parseDigest(scheme + parameters)).toEqual({ ...known, protection });
  });

  test('of a client that knows no qop', () => {
    for (const rest of ['', ', nc=1, cnonce="c"'])
      expect(parseDigest(`Digest ${LEAST}${rest}`)).toEqual({ ...known, protection: undefined });
  });

  test('with SHA-256', () => {
    const long = LEAST.replace(MD5, MD5 + MD5);
    expect(parseDigest(`Digest ${long}, algorithm=sha-256`)).toMatchObject({ algorithm: 'SHA-256' });
  });

  test.each([
    [Buffer.from('Hörsaal 1/2 ä').toString('latin1'), 'Hörsaal 1/2 ä'],
    ['H\xf6rsaal', 'Hörsaal'],
    ['a\\"b\\\\c, d=e', 'a"b\\c, d=e'],
  ])('may have user names in UTF-8, in Latin-1 and with escaped characters: %j', (sent, username) => {
    expect(parseDigest(`Digest ${LEAST.replace('hall', sent)}`)).toMatchObject({ username });
  });

  test('has an address with a backslash as it was written', () => {
    expect(parseDigest(`Digest ${LEAST.replace('/a?b=1,2', '/a?b=\\n')}`)).toMatchObject({ uri: '/a?b=\\n' });
  });

  test.each([
    ['', "'username' is missing"],
    ['x', 'it'],
    ['=', 'it'],
    ['username="hall', 'it'],
    [`${LEAST} nc=1`, 'it'],
    [`${LEAST}, realm="Opencast"`, 'it'],
    ['username="hall"', "'realm'"],
    [LEAST.replace('"hall"', '""'), "'username'"],
    [LEAST.replace('hall', 'a\x01b'), "'username'"],
    [LEAST.replace('username="hall"', "username*=UTF-8''hall"), "'username*'"],
    [`${LEAST}, userhash=true`, "'userhash'"],
    [LEAST.replace('Opencast', 'opencast'), "'realm' must be Opencast"],
    [`${LEAST}, algorithm=MD5-sess`, "'algorithm' must be MD5 or SHA-256"],
    [`${LEAST}, algorithm=SHA-256`, "'response' must be 64"],
    [LEAST.replace(MD5, `${MD5.slice(1)}g`), "'response' must be 32"],
    [WHOLE.replace('=auth', '=auth-int'), "'qop' must be auth"],
    [WHOLE.replace('00000002', '000000002'), "'nc'"],
    [WHOLE.replace('00000002', ''), "'nc'"],
    [WHOLE.replace(', cnonce="c"', ''), "'cnonce'"],
  ])('is none: %j', (parameters, fault) => {
    expect(parseDigest(`Digest ${parameters}`)).toEqual({ fault: expect.stringContaining(fault) });
  });

  test.each(['', 'Basic YTpi', 'Bearer x', 'Digestive a="b"'])('%j is of another scheme', (header) => {
    expect(parseDigest(header)).toBeUndefined();
  });

  test('of great length is read in no time that grows with its square', () => {
    expect(parseDigest(`Digest ${'a="\\\\'.repeat(4000)}`)).toEqual({ fault: 'it cannot be parsed' });
  });
});

describe('the response', () => {
  const secretsOf = (text: string) => ({ md5: digestOf('MD5', text), sha256: digestOf('SHA-256', text) });
  const mufasa = { username: 'Mufasa', uri: '/dir/index.html' };

  test.each([
    ['MD5', '8ca523f5e9506fed4657c9700eebdbec'],
    ['SHA-256', '753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1'],
  ] as const)('RFC 7616, section 3.9.1: %s', (algorithm, response) => {
    const answer: DigestAnswer = {
      ...{ ...mufasa, algorithm, response, nonce: '7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v' },
      protection: { qop: 'auth', nc: '00000001', cnonce: 'f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ' },
    };
    const secrets = secretsOf('Mufasa:http-auth@example.org:Circle of Life');
    expect(expectedResponse(answer, 'GET', secrets)).toBe(response);
    expect(isValidResponse(answer, 'GET', secrets)).toBe(true);
    expect(isValidResponse(answer, 'POST', secrets)).toBe(false);
    expect(isValidResponse(answer, 'GET', secretsOf('Mufasa:http-auth@example.org:Circle of life'))).toBe(false);
  });

  test('RFC 2069, section 2.4, with its erratum: without qop', () => {
    const answer: DigestAnswer = {
      ...{ ...mufasa, nonce: 'dcd98b7102dd2f0e8b11d0f600bfb0c093' },
      ...{ algorithm: 'MD5', response: '', protection: undefined },
    };
    const secrets = secretsOf('Mufasa:testrealm@host.com:CircleOfLife');
    expect(expectedResponse(answer, 'GET', secrets)).toBe('1949323746fe6a43ef61f9606e7febea');
  });

  test('is of secrets made of the user name, the realm and the password in UTF-8', () => {
    expect(digestSecrets('Hörsaal', 'pä:ss')).toEqual(secretsOf('Hörsaal:Opencast:pä:ss'));
  });
});

describe('the address', () => {
  const HOST = 'http://10.0.0.7:8080';

  test.each([
    ['/api/events?limit=1&filter=a:b', '/api/events?limit=1&filter=a:b'],
    ['http://media.example.org/api', '/api'],
    ['https://media.example.org', '/'],
    ['/agents/H%C3%B6rsaal%201', '/agents/H%c3%b6rsaal 1'],
    ['/agents/%28a%29~', '/agents/(a)%7E'],
    ['/agents/a%2fb', '/agents/a%2Fb'],
    ['/api//x/', '/api//x/'],
    ['/api?', '/api'],
  ])('%s is what was asked for with %s', (uri, asked) => {
    expect(matchesTarget(uri, HOST + asked, '')).toBe(true);
  });

  test.each([
    ['/api/series', '/api/events'],
    ['/api/events', '/api/events?limit=1'],
    ['/api/events?limit=1', '/api/events'],
    ['/api/events/', '/api/events'],
    ['/agents/a/b', '/agents/a%2Fb'],
    ['/a?b=1%262', '/a?b=1&2'],
    ['/agents/a%2525', '/agents/a%25'],
    ['//api/events', '/api/events'],
    ['api/events', '/api/events'],
    ['ftp://host/api', '/api'],
    ['http://', '/'],
    ['*', '/'],
    ['', '/'],
  ])('%j is something else than %s', (uri, asked) => {
    expect(matchesTarget(uri, HOST + asked, '')).toBe(false);
  });

  test('may have lost the path that the server has outside to a proxy', () => {
    expect(matchesTarget('/inlet/api?a=1', `${HOST}/api?a=1`, '/inlet')).toBe(true);
    expect(matchesTarget('/api', `${HOST}/api`, '/inlet')).toBe(true);
    expect(matchesTarget('/other/api', `${HOST}/api`, '/inlet')).toBe(false);
  });
});
