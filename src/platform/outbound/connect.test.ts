import { expect, test } from 'vitest';
import { isPublic, mayConnect } from './connect.ts';

test.each([
  ...['8.8.8.8', '100.63.255.255', '172.32.0.1', '192.167.1.1', '223.255.255.255'],
  ...['2a00:1450::1', '2606:4700:4700::1111', '64:ff9b::8.8.8.8'],
])('%s is public', (address) => expect(isPublic(address)).toBe(true));

test.each([
  ...['0.0.0.0', '10.1.2.3', '100.64.0.1', '127.0.0.1', '127.255.0.9', '169.254.169.254', '172.16.0.1'],
  ...['172.31.255.255', '192.0.0.1', '192.0.2.1', '192.168.0.1', '198.18.0.1', '198.51.100.1', '203.0.113.1'],
  ...['224.0.0.1', '240.0.0.1', '255.255.255.255'],
  ...['::', '::1', '::127.0.0.1', '::ffff:127.0.0.1', '::ffff:7f00:1', '::ffff:8.8.8.8', 'fc00::1'],
  'fd12::1',
  ...['fe80::1', 'fe80::1%eth0', 'fec0::1', 'ff02::1', '100::1', '2001::1', '2001:db8::1', '2002:7f00:1::'],
  ...['3fff::1', '64:ff9b::127.0.0.1', '64:ff9b::a9fe:a9fe', '64:ff9b:1::1', '5f00::1'],
  ...['', 'localhost', '127.1'],
])('%s is not public', (address) => expect(isPublic(address)).toBe(false));

const web = { port: 80, secure: false };

test('an address that is not public may be asked where it is named itself, at that port', () => {
  const hosts = [
    { host: '10.0.0.1', port: undefined },
    { host: '[fd00::1]', port: 8080 },
  ];
  expect(mayConnect(hosts, '10.0.0.1', web)).toBe(true);
  expect(mayConnect(hosts, '10.0.0.1', { port: 443, secure: true })).toBe(true);
  expect(mayConnect(hosts, '10.0.0.1', { port: 8080, secure: false })).toBe(false);
  expect(mayConnect(hosts, '10.0.0.2', web)).toBe(false);
  expect(mayConnect(hosts, 'fd00:0::0:1', { port: 8080, secure: false })).toBe(true);
  expect(mayConnect(hosts, 'fd00::2', { port: 8080, secure: false })).toBe(false);
  expect(mayConnect(hosts, '::ffff:10.0.0.1', web)).toBe(false);
});

test('localhost names the addresses of this machine', () => {
  const hosts = [{ host: 'localhost', port: 80 }];
  for (const address of ['127.0.0.1', '127.0.1.1', '::1']) expect(mayConnect(hosts, address, web)).toBe(true);
  expect(mayConnect(hosts, '127.0.0.1', { port: 81, secure: false })).toBe(false);
  expect(mayConnect(hosts, '10.0.0.1', web)).toBe(false);
});
