import { expect, test } from 'vitest';
import { digestOf, digestSecrets } from '../../accounts/digest-secrets.ts';
import type { DigestAnswer } from './header.ts';
import { expectedResponse, isRight } from './response.ts';

const secretsOf = (text: string) => ({ md5: digestOf('MD5', text), sha256: digestOf('SHA-256', text) });

test.each([
  ['MD5', '8ca523f5e9506fed4657c9700eebdbec'],
  ['SHA-256', '753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1'],
] as const)('RFC 7616, section 3.9.1: %s', (algorithm, response) => {
  const answer: DigestAnswer = {
    username: 'Mufasa',
    nonce: '7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v',
    uri: '/dir/index.html',
    algorithm,
    response,
    protection: { qop: 'auth', nc: '00000001', cnonce: 'f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ' },
  };
  const secrets = secretsOf('Mufasa:http-auth@example.org:Circle of Life');
  expect(expectedResponse(answer, 'GET', secrets)).toBe(response);
  expect(isRight(answer, 'GET', secrets)).toBe(true);
  expect(isRight(answer, 'POST', secrets)).toBe(false);
  expect(isRight(answer, 'GET', secretsOf('Mufasa:http-auth@example.org:Circle of life'))).toBe(false);
});

test('RFC 2069, section 2.4, with its erratum: without qop', () => {
  const answer: DigestAnswer = {
    username: 'Mufasa',
    nonce: 'dcd98b7102dd2f0e8b11d0f600bfb0c093',
    uri: '/dir/index.html',
    algorithm: 'MD5',
    response: '',
    protection: undefined,
  };
  const secrets = secretsOf('Mufasa:testrealm@host.com:CircleOfLife');
  expect(expectedResponse(answer, 'GET', secrets)).toBe('1949323746fe6a43ef61f9606e7febea');
});

test('what is kept of a password is of the user name, the realm and the password in UTF-8', () => {
  expect(digestSecrets('Hörsaal', 'pä:ss')).toEqual(secretsOf('Hörsaal:Opencast:pä:ss'));
});
