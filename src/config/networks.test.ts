import { expect, test } from 'vitest';
import { loadConfig } from '../config.ts';

const read = (TRUSTED_PROXIES: string) =>
  loadConfig({ TRUSTED_PROXIES, ADMIN_PASSWORD: 'own' }).trustedProxies.map(
    ({ address, prefix }) => `${address}/${prefix}`,
  );

test('no proxy is trusted unless it is named', () => {
  expect(loadConfig({}).trustedProxies).toEqual([]);
});

test.each([
  ['10.1.2.3', ['10.1.2.3/32']],
  ['10.1.0.0/16, 2001:DB8::/32', ['10.1.0.0/16', '2001:db8::/32']],
  ['2001:db8:0:0::1', ['2001:db8::1/128']],
  ['::ffff:10.1.2.3,::ffff:10.0.0.0/104', ['10.1.2.3/32', '10.0.0.0/8']],
  ['0.0.0.0/0,::/0', ['0.0.0.0/0', '::/0']],
  ['loopback', ['127.0.0.0/8', '::1/128']],
  ['private,192.0.2.1', ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7', '192.0.2.1/32']],
])('%s names %j', (value, expected) => {
  expect(read(value)).toEqual(expected);
});

test.each([
  ...['proxy.example.org', 'public', 'constructor', '10.1', '10.1.2.3:80', '[::1]', 'fe80::1%eth0', '*'],
  ...[
    '10.1.2.3/33',
    '10.1.2.3/-1',
    '10.1.2.3/',
    '::1/129',
    '::ffff:10.0.0.0/95',
    '10.1.2.3 10.1.2.4',
    '10.1.2.3,',
  ],
])('TRUSTED_PROXIES cannot be %s', (value) => {
  expect(() => read(value)).toThrow(
    `TRUSTED_PROXIES is ${JSON.stringify(value)}; allowed is IP addresses, networks such as 10.1.0.0/16 or 2001:db8::/32, and the names loopback and private, with commas between.`,
  );
});
