import { isIP } from 'node:net';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { clientAddress, trustedNetworks } from './client-address.ts';

const isTrusted = trustedNetworks([
  { address: '10.0.0.0', prefix: 8 },
  { address: '192.0.2.7', prefix: 32 },
  { address: 'fd00::', prefix: 8 },
]);
const of = (peer: string, headers: Record<string, string> = {}) =>
  clientAddress(peer, new Headers(headers), isTrusted);

test('without a proxy that is trusted, what a client says of itself counts for nothing', () => {
  expect(of('203.0.113.5', { 'X-Forwarded-For': '10.1.1.1', Forwarded: 'for=10.1.1.1' })).toBe('203.0.113.5');
  expect(of('')).toBe('');
});

test.each([
  ['one proxy', '203.0.113.5', '203.0.113.5'],
  ['two proxies', '203.0.113.5, 10.9.9.9', '203.0.113.5'],
  ['an address that the client made up before its own', '198.51.100.1, 203.0.113.5', '203.0.113.5'],
  ['a made up address that would be trusted', '10.5.5.5, 203.0.113.5, 10.1.1.1', '203.0.113.5'],
  ['with a port', '203.0.113.5:51234', '203.0.113.5'],
  ['IPv6', '2001:DB8::5', '2001:db8::5'],
  ['IPv6 in brackets with a port', '[2001:db8::5]:443', '2001:db8::5'],
  ['IPv4 as IPv6 has it', '::ffff:203.0.113.5', '203.0.113.5'],
  ['all of them trusted', '10.3.3.3, 10.2.2.2', '10.3.3.3'],
  ['nobody known', 'unknown', '10.0.0.1'],
  ['hidden behind another proxy', '203.0.113.5, _hidden, 10.2.2.2', '10.2.2.2'],
  ['nothing', '', '10.0.0.1'],
  ['an address that is none', '203.0.113.500', '10.0.0.1'],
])('X-Forwarded-For, %s', (_, header, address) => {
  expect(of('10.0.0.1', { 'X-Forwarded-For': header })).toBe(address);
});

test.each([
  ['a token', 'for=203.0.113.5', '203.0.113.5'],
  ['more than the address', 'proto=https;For="203.0.113.5:4711";by=10.0.0.1', '203.0.113.5'],
  ['IPv6', 'for="[2001:db8::5]:443"', '2001:db8::5'],
  ['two proxies', 'for=198.51.100.1, for=203.0.113.5;by=10.2.2.2, for=10.2.2.2', '203.0.113.5'],
  ['hidden', 'for=_secret', '10.0.0.1'],
  ['no address', 'proto=https', '10.0.0.1'],
])('Forwarded, %s', (_, header, address) => {
  expect(of('10.0.0.1', { Forwarded: header })).toBe(address);
});

test('of two headers that do not agree neither counts', () => {
  expect(of('10.0.0.1', { Forwarded: 'for=198.51.100.1', 'X-Forwarded-For': '203.0.113.5' })).toBe(
    '10.0.0.1',
  );
  expect(of('10.0.0.1', { Forwarded: 'for=203.0.113.5', 'X-Forwarded-For': '203.0.113.5' })).toBe(
    '203.0.113.5',
  );
});

test('a peer that is told as IPv4 in IPv6 is known as well', () => {
  expect(of('::ffff:10.0.0.1', { 'X-Forwarded-For': '203.0.113.5' })).toBe('203.0.113.5');
  expect(of('fd00::1', { 'X-Forwarded-For': '203.0.113.5' })).toBe('203.0.113.5');
});

test('whatever is sent, the answer is an address, and what stands before the client changes nothing', () => {
  const text = fc
    .string({ unit: 'grapheme-ascii', maxLength: 200 })
    .map((s) => s.replaceAll(/[^\x20-\x7e]/g, ' '));
  fc.assert(
    fc.property(text, text, (one, other) => {
      expect(isIP(of('10.0.0.1', { 'X-Forwarded-For': one, Forwarded: other }))).toBeGreaterThan(0);
      expect(of('10.0.0.1', { 'X-Forwarded-For': `${one}, 203.0.113.5` })).toBe('203.0.113.5');
    }),
  );
});
