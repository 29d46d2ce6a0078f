import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { loadConfig } from '../../config/config.ts';
import { canonicalAddress } from '../../text/ip-address.ts';
import { resolveClientsBehind } from './client-address.ts';
import { capitalizeHeader } from './header-names.ts';
import { targetError } from './request-target.ts';

const PROXY = '10.0.0.1';
const TRUSTED = '10.0.0.0/8, 2001:db8:1::/48';
const config = loadConfig({ TRUSTED_PROXIES: TRUSTED, ADMIN_PASSWORD: 'own' });
const clientAddress = resolveClientsBehind(config.trustedProxies);

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

describe('the client without proxies that are trusted', () => {
  test('nothing that a request says of its client counts', () => {
    fc.assert(
      fc.property(client, text, text, (peer, forwarded, forwardedFor) => {
        const headers = { Forwarded: forwarded, 'X-Forwarded-For': forwardedFor };
        expect(behind(headers, peer)).toBe(canonicalAddress(peer));
        expect(resolveClientsBehind([])(peer, new Headers(headers))).toBe(canonicalAddress(peer));
      }),
    );
  });

  test.each(['', 'unknown', '/run/socket', 'fe80::1%eth0', '10.0.0.1.5'])(
    'a peer with the address %j keeps it',
    (peer) => expect(behind({ 'X-Forwarded-For': '192.0.2.1' }, peer)).toBe(peer),
  );
});

describe('the client behind trusted proxies', () => {
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
    ['192.0.2.1, unknown, 10.0.0.2', '10.0.0.2'],
  ])('X-Forwarded-For: %s means %s', (value, expected) => expect(byFor(value)).toBe(expected));

  test.each([
    ...['', 'unknown', '_hidden', '192.0.2.1, unknown', '192.0.2.1,', '192.0.2.256', '0192.0.2.1'],
    ...['192.0.2.1:port', '[192.0.2.1]', '[2001:db8:2::1', 'fe80::1%eth0', 'http://192.0.2.1'],
    'for=192.0.2.1',
  ])('X-Forwarded-For: %s names nobody', (value) => expect(byFor(value)).toBe(PROXY));

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
    ['for=192.0.2.1, for=_hidden, for=10.0.0.2', '10.0.0.2'],
  ])('Forwarded: %s means %s', (value, expected) => expect(byForwarded(value)).toBe(expected));

  test.each([
    ...['for=unknown', 'for="_mdn"', 'for=192.0.2.1, proto=https', 'for=192.0.2.1;for=192.0.2.2', ''],
    ...['for=192.0.2.1;', 'for = 192.0.2.1', '192.0.2.1', 'for="192.0.2.1'],
  ])('Forwarded: %s names nobody', (value) => expect(byForwarded(value)).toBe(PROXY));

  test('the client is whom the outermost proxy was asked by, whatever is left of that', () => {
    fc.assert(
      fc.property(text, client, fc.array(proxy, { maxLength: 5 }), proxy, (spoofed, asking, chain, peer) => {
        const value = [spoofed, asking, ...chain].join(', ');
        const Forwarded = [asking, ...chain].map((address) => `for=${quoted(address)}`).join(', ');
        const both = [{ 'X-Forwarded-For': value }, { Forwarded }, { Forwarded, 'X-Forwarded-For': value }];
        const found = both.map((headers) => behind(headers as Record<string, string>, peer));
        expect(found).toEqual(Array(3).fill(canonicalAddress(asking)));
      }),
      { numRuns: 500 },
    );
  });

  test('what a client writes into Forwarded makes nobody else of it: it is known, or the proxy stands for it', () => {
    const endings = fc.constantFrom(',for=6.6.6.6', ';a="', ',a="\\', ',for="', 'for=6.6.6.6;a="');
    const spoofing = fc.oneof(
      text,
      fc.tuple(text, endings).map((two) => two.join('')),
    );
    fc.assert(
      fc.property(spoofing, client, proxy, (spoofed, asking, peer) => {
        const found = behind({ Forwarded: `${spoofed}, for=${quoted(asking)};proto="https"` }, peer);
        expect([canonicalAddress(asking), canonicalAddress(peer)]).toContain(found);
      }),
      { numRuns: 1000 },
    );
  });

  test('headers that name different clients are both not believed', () => {
    const different = { Forwarded: 'for=6.6.6.6', 'X-Forwarded-For': '192.0.2.1' };
    expect(behind(different)).toBe(PROXY);
    expect(behind({ ...different, Forwarded: 'for="' })).toBe(PROXY);
    const alike = { Forwarded: 'for="[::ffff:192.0.2.1]"', 'X-Forwarded-For': '6.6.6.6, 192.0.2.1:5' };
    expect(behind(alike)).toBe('192.0.2.1');
  });

  test('several lines of a header are one list', () => {
    const lines = ['6.6.6.6', '192.0.2.1', '10.0.0.2'];
    expect(behind(lines.map((value): [string, string] => ['X-Forwarded-For', value]))).toBe('192.0.2.1');
  });

  test('headers of any length are looked at in no time', () => {
    // A quadratic time would be hours, and stopped by the time limit of tests.
    for (const part of ['10.0.0.2,', ',', ':', '"', '\\', 'for=10.0.0.2,', 'for="', 'a=b;', '[', ' ']) {
      const long = part.repeat(1_000_000 / part.length);
      expect(canonicalAddress(byFor(long))).toBeDefined();
      expect(byFor(`${long}, 192.0.2.1`)).toBe('192.0.2.1');
      expect(byForwarded(long)).toBe(PROXY);
      expect(byForwarded(long.slice(0, 8_000))).toBeDefined();
    }
  });
});

describe('the target of a request', () => {
  test.each([
    ...['/api/events/.', '/api/events/..', '/api/events/../', '/..', '/api/./events?filter=x'],
    ...['/api/events/..#x', '/%2e%2E/api', '/docs/.%2e/api', '/docs/%2E./api', '/%2e'],
  ])('%s is refused: it leads to a resource only when it is resolved', (path) => {
    for (const target of [path, `http://inlet${path}`]) {
      expect(targetError(target, 'inlet')).toMatch(/^The path must hold no segment/);
    }
  });

  test.each(['/api\\events', '/api/..\\events', '/\\'])('%s is refused for its backslash', (path) => {
    for (const target of [path, `http://inlet:80${path}`]) {
      expect(targetError(target, 'inlet')).toBe('The path must hold no backslash.');
    }
  });

  test.each([
    ...['/', '/api/events', '/api/events/', '//api//events', '/api/events/...', '/api/events/..;/a'],
    ...['/api/events/%2e%2e%2fseries', '/api/events/%5c..', '/api/events/a.b', '/api/events#/../\\', '/*'],
    ...['/api/events?filter=/../&b=\\', 'http://inlet', 'http://inlet?x', 'https://[::1]:8080/api'],
  ])('%s is let through', (target) => expect(targetError(target, 'inlet')).toBeUndefined());

  test.each([
    ...['*', '', 'api/events', '?x', 'ftp://inlet/api', 'HTTP://inlet/api', 'http:/api', 'inlet:80'],
    'http://a:99999/api',
  ])('%j is no address', (target) => expect(targetError(target, 'inlet')).toMatch(/^The request target must be/));

  test.each([undefined, '', 'inlet', 'INLET:8080', 'a_b.example', '127.0.0.1:80', '[::1]', '[::1]:8080'])(
    'the host %j is one',
    (host) => expect(targetError('/', host)).toBeUndefined(),
  );

  test.each([
    ...['a/b', 'a b', 'a\\b', 'a?b', 'a#b', 'a@b', 'a:', 'a:99999', 'a:b', '[::1', '::1', '[x]', 'ä', 'a,b'],
    '%61',
  ])('the host %j is none', (host) => expect(targetError('/', host)).toMatch(/^The header 'Host' must be/));
});

test.each([
  ['etag', 'ETag'],
  ['location', 'Location'],
  ['content-type', 'Content-Type'],
  ['WWW-Authenticate', 'WWW-Authenticate'],
  ['x-request-id', 'X-Request-Id'],
])('the header %s is written %s', (name, usual) => expect(capitalizeHeader(name)).toBe(usual));
