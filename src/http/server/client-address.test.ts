import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { loadConfig } from '../../config.ts';
import { canonicalAddress } from '../../ip-address.ts';
import { clientsBehind } from './client-address.ts';

const PROXY = '10.0.0.1';
const TRUSTED = '10.0.0.0/8, 2001:db8:1::/48';
const config = loadConfig({ TRUSTED_PROXIES: TRUSTED, ADMIN_PASSWORD: 'own' });
const clientAddress = clientsBehind(config.trustedProxies);

const behind = (headers: HeadersInit, peer = PROXY) => clientAddress(peer, new Headers(headers));
const byFor = (value: string) => behind({ 'X-Forwarded-For': value });
const byForwarded = (value: string) => behind({ Forwarded: value });

const text = fc.string({ unit: fc.constantFrom(...'for=,;:"\\[]_unknow.-0123456789abcdef \t') });
const client = fc.oneof(
  fc.ipV4().filter((address) => !address.startsWith('10.')),
  fc.ipV6().filter((address) => !/^(2001:db8:1|::ffff:)/i.test(address)),
);
const proxy = fc.oneof(
  fc.tuple(fc.nat(255), fc.nat(255), fc.nat(255)).map((bytes) => ['10', ...bytes].join('.')),
  fc.nat(65_535).map((n) => `2001:db8:1::${n.toString(16)}`),
);
const quoted = (address: string) => (address.includes(':') ? `"[${address}]"` : address);

describe('without proxies that are trusted', () => {
  test('nothing that a request says of its client counts', () => {
    fc.assert(
      fc.property(client, text, text, (peer, forwarded, forwardedFor) => {
        const headers = { Forwarded: forwarded, 'X-Forwarded-For': forwardedFor };
        expect(behind(headers, peer)).toBe(canonicalAddress(peer));
        expect(clientsBehind([])(peer, new Headers(headers))).toBe(canonicalAddress(peer));
      }),
    );
  });

  test.each(['', 'unknown', '/run/socket', 'fe80::1%eth0', '10.0.0.1.5'])(
    'a peer with the address %j keeps it',
    (peer) => {
      expect(behind({ 'X-Forwarded-For': '192.0.2.1' }, peer)).toBe(peer);
    },
  );
});

describe('behind trusted proxies', () => {
  test.each([
    ['192.0.2.1', '192.0.2.1'],
    ['192.0.2.1:4711', '192.0.2.1'],
    ['2001:DB8:2:0:0::1', '2001:db8:2::1'],
    ['[2001:db8:2::1]', '2001:db8:2::1'],
    ['[2001:db8:2::1]:4711', '2001:db8:2::1'],
    ['::ffff:192.0.2.1', '192.0.2.1'],
    ['[::ffff:c000:201]:80', '192.0.2.1'],
    ['198.51.100.9, 192.0.2.1', '192.0.2.1'],
    ['192.0.2.1, 10.0.0.2,10.0.0.3', '192.0.2.1'],
    ['192.0.2.1, ::ffff:10.0.0.2', '192.0.2.1'],
    ['192.0.2.1, 2001:db8:1::2, 10.0.0.3', '192.0.2.1'],
    ['10.0.0.9, 10.0.0.2', '10.0.0.9'],
    ['', PROXY],
    ['unknown', PROXY],
    ['_hidden', PROXY],
    ['192.0.2.1, unknown', PROXY],
    ['192.0.2.1, unknown, 10.0.0.2', '10.0.0.2'],
    ['192.0.2.1,', PROXY],
    ['192.0.2.256', PROXY],
    ['0192.0.2.1', PROXY],
    ['192.0.2.1:port', PROXY],
    ['[192.0.2.1]', PROXY],
    ['[2001:db8:2::1', PROXY],
    ['fe80::1%eth0', PROXY],
    ['http://192.0.2.1', PROXY],
    ['for=192.0.2.1', PROXY],
  ])('X-Forwarded-For: %s means %s', (value, expected) => {
    expect(byFor(value)).toBe(expected);
  });

  test.each([
    ['for=192.0.2.1', '192.0.2.1'],
    ['For=192.0.2.1;proto=https;by=203.0.113.43', '192.0.2.1'],
    ['proto=https; host="video.example" ; for="192.0.2.1:4711"', '192.0.2.1'],
    ['for="[2001:db8:2::1]:4711"', '2001:db8:2::1'],
    ['for="[2001:db8:2::1]:_port"', '2001:db8:2::1'],
    ['for=[2001:db8:2::1]', '2001:db8:2::1'],
    ['for="192.0.2.\\1"', '192.0.2.1'],
    ['for=198.51.100.9, for=192.0.2.1', '192.0.2.1'],
    ['for=192.0.2.1, for=10.0.0.2;host="a, for=198.51.100.9"', '192.0.2.1'],
    ['for=192.0.2.1, for=10.0.0.2, for="[2001:db8:1::5]"', '192.0.2.1'],
    ['for=unknown', PROXY],
    ['for="_mdn"', PROXY],
    ['for=192.0.2.1, for=_hidden, for=10.0.0.2', '10.0.0.2'],
    ['for=192.0.2.1, proto=https', PROXY],
    ['for=192.0.2.1;for=192.0.2.2', PROXY],
    ['for=192.0.2.1;', PROXY],
    ['for = 192.0.2.1', PROXY],
    ['192.0.2.1', PROXY],
    ['for="192.0.2.1', PROXY],
    ['', PROXY],
  ])('Forwarded: %s means %s', (value, expected) => {
    expect(byForwarded(value)).toBe(expected);
  });

  test('the client is whom the outermost proxy was asked by, whatever is left of that', () => {
    fc.assert(
      fc.property(text, client, fc.array(proxy, { maxLength: 5 }), proxy, (spoofed, asking, chain, peer) => {
        const value = [spoofed, asking, ...chain].join(', ');
        expect(behind({ 'X-Forwarded-For': value }, peer)).toBe(canonicalAddress(asking));
        const told = [asking, ...chain].map((address) => `for=${quoted(address)}`).join(', ');
        expect(behind({ Forwarded: told }, peer)).toBe(canonicalAddress(asking));
        expect(behind({ Forwarded: told, 'X-Forwarded-For': value }, peer)).toBe(canonicalAddress(asking));
      }),
      { numRuns: 500 },
    );
  });

  test('what a client writes into Forwarded makes nobody else of it: it is known, or the proxy stands for it', () => {
    const spoofing = fc.oneof(
      text,
      fc
        .tuple(text, fc.constantFrom(',for=6.6.6.6', ';a="', ',a="\\', ',for="', 'for=6.6.6.6;a="'))
        .map((two) => two.join('')),
    );
    fc.assert(
      fc.property(spoofing, client, proxy, (spoofed, asking, peer) => {
        const found = behind({ Forwarded: `${spoofed}, for=${quoted(asking)};proto="https"` }, peer);
        expect([canonicalAddress(asking), canonicalAddress(peer)]).toContain(found);
      }),
      { numRuns: 2000 },
    );
  });

  test('headers that name different clients are both not believed', () => {
    const told = { Forwarded: 'for=6.6.6.6', 'X-Forwarded-For': '192.0.2.1' };
    expect(behind(told)).toBe(PROXY);
    expect(behind({ ...told, Forwarded: 'for="' })).toBe(PROXY);
    expect(behind({ Forwarded: 'for="[::ffff:192.0.2.1]"', 'X-Forwarded-For': '6.6.6.6, 192.0.2.1:5' })).toBe(
      '192.0.2.1',
    );
  });

  test('several lines of a header are one list', () => {
    const headers = new Headers();
    for (const value of ['6.6.6.6', '192.0.2.1', '10.0.0.2']) headers.append('X-Forwarded-For', value);
    expect(clientAddress(PROXY, headers)).toBe('192.0.2.1');
  });

  test('headers of any length are looked at in no time', () => {
    const million = 1_000_000;
    // By the square it would be hours, and end by the time limit of tests.
    for (const part of ['10.0.0.2,', ',', ':', '"', '\\', 'for=10.0.0.2,', 'for="', 'a=b;', '[', ' ']) {
      const long = part.repeat(million / part.length);
      expect(canonicalAddress(byFor(long))).toBeDefined();
      expect(byFor(`${long}, 192.0.2.1`)).toBe('192.0.2.1');
      expect(byForwarded(long)).toBe(PROXY);
      expect(byForwarded(long.slice(0, 8_000))).toBeDefined();
    }
  });
});
