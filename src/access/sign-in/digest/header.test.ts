import { expect, test } from 'vitest';
import { parseDigest } from './header.ts';

const MD5 = '8ca523f5e9506fed4657c9700eebdbec';
const LEAST = `username="hall", realm="Opencast", nonce="n-1", uri="/a?b=1,2", response="${MD5}"`;
const WHOLE = `${LEAST}, algorithm=MD5, qop=auth, nc=00000002, cnonce="c"`;
const known = {
  username: 'hall',
  nonce: 'n-1',
  uri: '/a?b=1,2',
  response: MD5,
  algorithm: 'MD5',
};
const protection = { qop: 'auth', nc: '00000002', cnonce: 'c' };

test.each([
  ['with all there is', WHOLE],
  ['quoted throughout', `${LEAST}, algorithm="MD5", qop="auth", nc="00000002", cnonce="c"`],
  ['quoted where it must be', `${WHOLE.replace('"hall"', 'hall').replace('"n-1"', 'n-1')}`],
  ['with blanks and none', WHOLE.replaceAll(', ', ' ,\t').replaceAll('=MD5', ' = MD5')],
  [
    'in other letters',
    WHOLE.replace('username', 'UserName').replace('MD5', 'md5').replace(MD5, MD5.toUpperCase()),
  ],
  ['with what nobody knows', `${WHOLE}, opaque="", auth-param=x, userhash=false`],
  ['without an algorithm', WHOLE.replace(', algorithm=MD5', '')],
])('an answer %s', (_name, parameters) => {
  for (const scheme of ['Digest ', 'digest  ', ' DIGEST ']) {
    expect(parseDigest(scheme + parameters)).toEqual({ ...known, protection });
  }
});

test('an answer of a client that knows no qop', () => {
  const whole = { ...known, protection: undefined };
  expect(parseDigest(`Digest ${LEAST}`)).toEqual(whole);
  expect(parseDigest(`Digest ${LEAST}, nc=1, cnonce="c"`)).toEqual(whole);
});

test('an answer with SHA-256', () => {
  const long = LEAST.replace(MD5, MD5 + MD5);
  expect(parseDigest(`Digest ${long}, algorithm=sha-256`)).toMatchObject({ algorithm: 'SHA-256' });
});

test('user names in UTF-8, in Latin-1 and with escaped characters', () => {
  const named = (name: string) => parseDigest(`Digest ${LEAST.replace('hall', name)}`);
  const utf8 = Buffer.from('Hörsaal 1/2 ä').toString('latin1');
  expect(named(utf8)).toMatchObject({ username: 'Hörsaal 1/2 ä' });
  expect(named('H\xf6rsaal')).toMatchObject({ username: 'Hörsaal' });
  expect(named('a\\"b\\\\c, d=e')).toMatchObject({ username: 'a"b\\c, d=e' });
});

test('an address with a backslash stays as it was written', () => {
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
  [LEAST.replace('Opencast', 'opencast'), 'the realm is Opencast'],
  [`${LEAST}, algorithm=MD5-sess`, "'algorithm' must be MD5 or SHA-256"],
  [`${LEAST}, algorithm=SHA-256`, "'response' must be 64"],
  [LEAST.replace(MD5, `${MD5.slice(1)}g`), "'response' must be 32"],
  [WHOLE.replace('=auth', '=auth-int'), "'qop' must be auth"],
  [WHOLE.replace('00000002', '000000002'), "'nc'"],
  [WHOLE.replace('00000002', ''), "'nc'"],
  [WHOLE.replace(', cnonce="c"', ''), "'cnonce'"],
])('no answer: %j', (parameters, fault) => {
  expect(parseDigest(`Digest ${parameters}`)).toEqual({ fault: expect.stringContaining(fault) });
});

test.each(['', 'Basic YTpi', 'Bearer x', 'Digestive a="b"'])('%j is of another scheme', (header) => {
  expect(parseDigest(header)).toBeUndefined();
});

test('a long header is read in no time that grows with its square', () => {
  const many = 'a="\\\\'.repeat(4000);
  expect(parseDigest(`Digest ${many}`)).toEqual({ fault: 'it cannot be read' });
});
