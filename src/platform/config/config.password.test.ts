import { expect, test } from 'vitest';
import { isOnlyLocal, loadConfig } from './config.ts';

const MISSING = 'ADMIN_PASSWORD is not set; it is required while ';

test.each([
  ...['0.0.0.0', '::', '[::]', '192.0.2.1', '128.0.0.1'],
  ...['127.0.0.1.example.org', 'localhost.example.org'],
])('at %s the password has to be chosen', (HOST) => {
  const refused = `${MISSING}HOST is "${HOST}", which is not a loopback address.`;
  expect(() => loadConfig({ HOST })).toThrow(refused);
  expect(() => loadConfig({ HOST, ADMIN_PASSWORD: '' })).toThrow(refused);
  expect(loadConfig({ HOST, ADMIN_PASSWORD: 'own' }).admin.password).toBe('own');
});

test.each([
  { HOST: '127.0.0.1' },
  { HOST: '127.8.9.10' },
  { HOST: '::1' },
  { HOST: '[::1]' },
  { HOST: 'localhost' },
  { PUBLIC_URL: 'http://localhost:9000' },
  { PUBLIC_URL: 'http://[::1]:9000/inlet/' },
  { TRUSTED_PROXIES: '127.0.0.1' },
])('with %j it need not', (environment) => {
  const config = loadConfig(environment);
  expect([config.admin.password, isOnlyLocal(config)]).toEqual(['opencast', true]);
});

test.each([
  ['https://video.example.org/inlet', 'PUBLIC_URL leads to video.example.org, which is'],
  ['http://[2001:db8::1]:8080', 'PUBLIC_URL leads to [2001:db8::1], which is'],
])('behind a proxy it has to be chosen, whatever HOST is: %s', (PUBLIC_URL, reason) => {
  expect(() => loadConfig({ PUBLIC_URL })).toThrow(MISSING + reason);
  const config = loadConfig({ PUBLIC_URL, ADMIN_PASSWORD: 'own' });
  expect([config.admin.password, isOnlyLocal(config)]).toEqual(['own', false]);
});

test('behind a server that is there already it has to be chosen at any address', () => {
  expect(() => loadConfig({}, { isGuest: true })).toThrow(`${MISSING}another server listens for Inlet.`);
  expect(loadConfig({ ADMIN_PASSWORD: 'own' }, { isGuest: true }).admin.password).toBe('own');
});
