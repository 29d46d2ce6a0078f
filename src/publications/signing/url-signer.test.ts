import { createHmac } from 'node:crypto';
import { expect, test } from 'vitest';
import { parseValidUntil } from '../sign.endpoints.ts';
import { isRefusal, type SigningTerms, UrlSigner } from './url-signer.ts';

const KEY = { keyId: 'demoKeyOne', secret: '6EDB5EDDCF994B7432C371D7C274F', ttlSeconds: 7200 };
const FILE = 'https://inlet.example/publications/p/e/presenter.mp4';
const NOW = 1_800_000_000_000;
const signer = new UrlSigner(KEY);

/** Judges an address: `good`, or the status it is refused with. */
function judged(url: string, { remoteAddress = '10.0.0.1', now = NOW } = {}): 'good' | number {
  const result = signer.verify(url, remoteAddress, now);
  return isRefusal(result) ? result.status : 'good';
}

const signed = (terms: Partial<SigningTerms> = {}, url = FILE) =>
  signer.sign(url, { validUntil: NOW + 60_000, ...terms });

/** An address with another value for one of its parameters. */
function changed(url: string, name: string, change: (value: string) => string): string {
  const altered = new URL(url);
  altered.searchParams.set(name, change(altered.searchParams.get(name) ?? ''));
  return altered.href;
}

/** An address with any policy, signed with the key. */
function withPolicy(text: string): string {
  const signature = createHmac('sha256', KEY.secret).update(text).digest('hex');
  return `${FILE}?policy=${Buffer.from(text).toString('base64url')}&keyId=${KEY.keyId}&signature=${signature}`;
}

test('the check vector of the reference is signed as the reference signs it, and another secret does not help', () => {
  const other = new UrlSigner({ ...KEY, secret: 'another' });
  expect(judged(other.sign(FILE, { validUntil: NOW + 1000 }))).toBe(403);
  expect(signer.sign('http://localhost', { validUntil: 1_521_464_919_284 })).toBe(
    'http://localhost?policy=eyJTdGF0ZW1lbnQiOnsiQ29uZGl0aW9uIjp7IkRhdGVMZXNzVGhhbiI6MTUyMTQ2NDkxOTI4NH0sIlJlc291cmNlIjoiaHR0cDpcL1wvbG9jYWxob3N0In19&keyId=demoKeyOne&signature=717dd8f958a15c1cdb7e88a61417a07bb6a1e6238d9293805cc0893f798a07e8',
  );
});

test('the policy names its conditions in the order of the reference', () => {
  const url = signer.sign('http://h/a?b=1', { validUntil: 3, validFrom: 2, source: '10.0.0.1' });
  const policy = Buffer.from(new URL(url).searchParams.get('policy') ?? '', 'base64url').toString();
  expect(policy).toBe(
    String.raw`{"Statement":{"Condition":{"DateGreaterThan":2,"DateLessThan":3,"IpAddress":"10.0.0.1"},"Resource":"http:\/\/h\/a?b=1"}}`,
  );
  expect(url.startsWith('http://h/a?b=1&policy=')).toBe(true);
});

test('an address is good from its start until its end', () => {
  const url = signed({ validFrom: NOW });
  const after = (ms: number) => judged(url, { now: NOW + ms });
  expect([0, 1, 59_999, 60_000].map(after)).toEqual([403, 'good', 'good', 410]);
});

test('an address signed again carries one signature, before its fragment', () => {
  const again = signed({ validUntil: NOW + 120_000 }, `${signed()}#t=10`);
  expect(new URL(again).searchParams.getAll('signature')).toHaveLength(1);
  expect(new URL(again).hash).toBe('#t=10');
  expect(judged(again.replace('#t=10', ''), { now: NOW + 90_000 })).toBe('good');
});

test('other parameters belong to the address, in any order', () => {
  const url = signed({}, `${FILE}?b=2&a=1&b=1`);
  const { origin, pathname, searchParams } = new URL(url);
  const turned = [...searchParams].reverse().map(([name, value]) => `${name}=${value}`);
  expect(judged(`${origin}${pathname}?${turned.join('&')}`)).toBe('good');
  expect(judged(`${url}&c=3`)).toBe(403);
  expect(judged(url.replace('a=1&', ''))).toBe(403);
  expect(judged(changed(url, 'a', () => '2'))).toBe(403);
});

test.each(['policy', 'keyId', 'signature'])('%s must be there once', (name) => {
  const url = new URL(signed());
  const value = url.searchParams.get(name) ?? '';
  expect(judged(`${url.href}&${name}=${value}`)).toBe(400);
  url.searchParams.set(name, '');
  expect(judged(url.href)).toBe(400);
  url.searchParams.delete(name);
  expect(judged(url.href)).toBe(400);
});

test('no changed character of policy or signature passes', () => {
  const url = signed();
  for (const name of ['policy', 'signature']) {
    const { length } = new URL(url).searchParams.get(name) ?? '';
    for (let at = 0; at < length; at++) {
      for (const other of ['A', 'f', '0', '_', '-', '=', '+', ' ', '\u0000', 'é']) {
        const altered = changed(url, name, (value) => value.slice(0, at) + other + value.slice(at + 1));
        if (altered !== url) expect([name, at, other, judged(altered)]).toEqual([name, at, other, 403]);
      }
    }
  }
});

test.each([
  ['the signature in capitals', 'signature', (value: string) => value.toUpperCase()],
  ['a shorter signature', 'signature', (value: string) => value.slice(2)],
  ['a longer signature', 'signature', (value: string) => `${value}00`],
  ['a padded policy', 'policy', (value: string) => `${value}=`],
  ['another key', 'keyId', () => 'demoKeyTwo'],
])('%s is refused', (_what, name, change) => {
  const altered = changed(signed(), name, change);
  expect(judged(altered)).toBe(403);
});

test.each([
  'https://inlet.example/publications/p/e/other.mp4',
  'https://other.example/publications/p/e/presenter.mp4',
  'http://inlet.example/publications/p/e/presenter.mp4',
  'https://inlet.example/publications/p/e/presenter.mp4/',
])('a signature is not good for %s', (other) => {
  expect(judged(other + new URL(signed()).search)).toBe(403);
});

test.each([
  ['10.0.0.1', '10.0.0.1', 'good'],
  ['10.0.0.1', '::ffff:10.0.0.1', 'good'],
  ['2001:DB8:0::1', '2001:db8::1', 'good'],
  ['10.0.0.1', '10.0.0.11', 403],
  ['10.0.0.1', '', 403],
  ['2001:db8::1', '2001:db8::2', 403],
  ['nonsense', 'nonsense', 403],
])('an address for %s asked for by %s is %s', (source, remoteAddress, expected) => {
  expect(judged(signed({ source }), { remoteAddress })).toBe(expected);
});

test.each<[string, 'good' | 403]>([
  ['{}', 403],
  ['null', 403],
  ['[', 403],
  ['{"Statement":{"Condition":{},"Resource":"x"}}', 403],
  ['{"Statement":{"Condition":{"DateLessThan":"9"},"Resource":"x"}}', 403],
  // In another order, and with other blanks.
  [`{ "Statement": {"Resource":"${FILE}","Condition":{"DateLessThan":${NOW + 1}}} }`, 'good'],
])('the policy %s is %s', (text, expected) => {
  expect(judged(withPolicy(text))).toBe(expected);
});

test.each([
  ['2026-04-13T08:15:30Z', '2026-04-13T08:15:30.000Z'],
  ['2026-04-13T08:15:30.25Z', '2026-04-13T08:15:30.250Z'],
  ['2026-04-13T10:15+02:00', '2026-04-13T08:15:00.000Z'],
  ['2026-04-12T22:45:00-0930', '2026-04-13T08:15:00.000Z'],
  ['2026-04-13', '2026-04-13T00:00:00.000Z'],
  ['0001-01-01T00:00:00Z', '0001-01-01T00:00:00.000Z'],
])('a validity until %s ends at %s', (text, expected) => {
  expect(parseValidUntil(text)?.toISOString()).toBe(expected);
});

test.each([
  ...['', 'tomorrow', '2026-02-30T00:00:00Z', '2026-13-01', '2026-04-13T24:00:00Z', '2026-04-13T08:60:00Z'],
  ...['2026-04-13T08:15:30+25:00', '2026-04-13T08Z', '13.04.2026', '1776068130', '2026-04-13T08:15:30Z\u0000'],
])('a validity until %j is none', (text) => {
  expect(parseValidUntil(text)).toBeUndefined();
});
