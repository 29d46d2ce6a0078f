import { describe, expect, test } from 'vitest';
import { describeConfig, loadConfig } from './config.ts';
import { VARIABLES } from './environment.ts';

describe('identity providers', () => {
  const JWT = {
    JWT_JWKS: 'https://id.example.org/certs',
    JWT_ISSUER: 'https://id.example.org',
    JWT_AUDIENCE: 'inlet',
  };

  test('an identity provider is configured by where its keys are, its issuer and its audience', () => {
    expect(loadConfig({}).jwt).toBeUndefined();
    const { JWT_JWKS: keySet, JWT_ISSUER: issuer, JWT_AUDIENCE: audience } = JWT;
    const claims = { roles: 'roles', username: 'sub' };
    expect(loadConfig(JWT).jwt).toEqual({ keySet, issuer, audience, claims });
    const own = { JWT_ROLES_CLAIM: 'realm_access.roles', JWT_USERNAME_CLAIM: 'preferred_username' };
    expect(loadConfig({ ...JWT, ...own, JWT_JWKS: '/etc/keys.json' }).jwt).toMatchObject({
      keySet: '/etc/keys.json',
      claims: { roles: 'realm_access.roles', username: 'preferred_username' },
    });
  });

  test.each(['JWT_ISSUER', 'JWT_AUDIENCE'])('without %s a key set stops the start', (name) => {
    const sentence = `${name} is not set; it is required with JWT_JWKS.`;
    expect(() => loadConfig({ ...JWT, [name]: '' })).toThrow(sentence);
  });

  test.each(['keys.json', 'ftp://id.example.org/certs', 'https://', 'https://user:secret@id.example.org/'])(
    'JWT_JWKS cannot be %s',
    (JWT_JWKS) => {
      // No password gets into the log.
      const sentence = /^JWT_JWKS is (?!.*secret).*; allowed is a URL/;
      expect(() => loadConfig({ ...JWT, JWT_JWKS })).toThrow(sentence);
    },
  );
});

test('other sites are named by their origins', () => {
  const origins = ['https://lms.example.org', 'http://127.0.0.1:3000'];
  expect(loadConfig({}).corsOrigins).toEqual([]);
  expect(loadConfig({ CORS_ORIGINS: origins.join(', ') }).corsOrigins).toEqual(origins);
});

test.each([...['*', 'null', 'https://lms.example.org/', 'lms.example.org', 'https://LMS.example.org', 'https://a,']])(
  'CORS_ORIGINS cannot be %s',
  (CORS_ORIGINS) => {
    expect(() => loadConfig({ CORS_ORIGINS })).toThrow(/^CORS_ORIGINS is ".*"; allowed is origins as/);
  },
);

test('traces are sent where a collector has been named, unless they are switched off', () => {
  const traces = (environment: Record<string, string>) => loadConfig(environment).traces;
  const named = { OTEL_EXPORTER_OTLP_ENDPOINT: 'https://user:secret@collector.example.org/otlp' };
  const local = {
    OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://localhost:4318/v1/traces',
    OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
  };
  expect(traces({})).toBeUndefined();
  expect(traces(named)).toEqual({ origin: 'https://collector.example.org', format: 'protobuf' });
  expect(traces({ ...named, ...local })).toEqual({ origin: 'http://localhost:4318', format: 'json' });
  expect(traces({ ...named, OTEL_SDK_DISABLED: 'TRUE' })).toBeUndefined();
  expect(traces({ ...named, OTEL_TRACES_EXPORTER: 'none' })).toBeUndefined();
  expect(() => traces({ OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' })).toThrow(
    'OTEL_EXPORTER_OTLP_PROTOCOL is "grpc"; allowed is one of http/protobuf, http/json.',
  );
});

test('a secret without WATCH_ACCESS means that every address must be signed; with page and strict, it signs addresses', () => {
  const access = (env: Record<string, string>) => loadConfig(env).watchAccess;
  expect(access({})).toBe('page');
  expect(access({ WATCH_ACCESS: 'strict' })).toBe('strict');
  expect(access({ URL_SIGNING_SECRET: 'secret' })).toBe('signed');
  expect(access({ URL_SIGNING_SECRET: 'secret', WATCH_ACCESS: '' })).toBe('signed');
  for (const given of ['page', 'strict']) {
    const { watchAccess, urlSigning } = loadConfig({ WATCH_ACCESS: given, URL_SIGNING_SECRET: 'secret' });
    expect([watchAccess, urlSigning.secret]).toEqual([given, 'secret']);
  }
  expect(() => access({ WATCH_ACCESS: 'link', URL_SIGNING_SECRET: 'secret' })).toThrow(
    'WATCH_ACCESS is "link" while URL_SIGNING_SECRET is set; allowed is page or strict, or no WATCH_ACCESS to require signed addresses.',
  );
  expect(() => access({ WATCH_ACCESS: 'open' })).toThrow(
    'WATCH_ACCESS is "open"; allowed is one of page, strict, link.',
  );
});

test('METRICS_PORT is another port than PORT', () => {
  const sentence = 'METRICS_PORT is 9000, the same as PORT; allowed is another port.';
  expect(() => loadConfig({ PORT: '9000', METRICS_PORT: '9000' })).toThrow(sentence);
});

describe('secrets', () => {
  const SECRET = 'hush-hush';

  test.each([
    { DATABASE_URL: `postgres://inlet:${SECRET}@db/inlet` },
    { DATABASE_URL: `postgres://db/inlet?user=inlet&password=${SECRET}` },
    { REDIS_URL: `redis://:${SECRET}@cache` },
    { REDIS_URL: `rediss://cache/1?password=${SECRET}` },
    { ADMIN_PASSWORD: SECRET },
    { URL_SIGNING_SECRET: SECRET },
    { TRANSCRIBE_URL: 'http://speech:8000', TRANSCRIBE_KEY: SECRET },
  ])('the configuration in the log shows no secret: %j', (environment) => {
    const loaded = loadConfig(environment);
    expect(JSON.stringify(loaded)).toContain(SECRET);
    expect(JSON.stringify(describeConfig(loaded))).not.toContain(SECRET);
  });

  test('a wrong TRANSCRIBE_KEY is refused without showing it', () => {
    const sentence = new RegExp(`^TRANSCRIBE_KEY is (?!.*${SECRET}).*; allowed is a key of printable ASCII`);
    expect(() => loadConfig({ TRANSCRIBE_KEY: `${SECRET}\n` })).toThrow(sentence);
  });

  const WRONG = [
    ...[`mysql://inlet:${SECRET}@db/inlet`, `mysql://db/inlet?password=${SECRET}`, `:${SECRET}@db`],
    ...[`mysql:/inlet:${SECRET}@db`, `inlet:${SECRET}@db/inlet`],
  ];
  const urls = VARIABLES.filter((name) => /_URL$|_JWKS$/.test(name));
  test.each(urls.flatMap((name) => WRONG.map((value) => [name, value] as const)))(
    'a wrong %s is refused without the password in it: %s',
    (name, value) => {
      const sentence = new RegExp(`^${name} is (?!.*${SECRET}).*; allowed is`);
      expect(() => loadConfig({ [name]: value })).toThrow(sentence);
    },
  );
});

describe('trusted proxies', () => {
  const read = (TRUSTED_PROXIES: string) =>
    loadConfig({ TRUSTED_PROXIES, ADMIN_PASSWORD: 'own' }).trustedProxies.map(
      ({ address, prefix }) => `${address}/${prefix}`,
    );

  test.each([
    ['', []],
    ['10.1.2.3', ['10.1.2.3/32']],
    ['10.1.0.0/16, 2001:DB8::/32', ['10.1.0.0/16', '2001:db8::/32']],
    ['2001:db8:0:0::1', ['2001:db8::1/128']],
    ['::ffff:10.1.2.3,::ffff:10.0.0.0/104', ['10.1.2.3/32', '10.0.0.0/8']],
    ['0.0.0.0/0,::/0', ['0.0.0.0/0', '::/0']],
    ['loopback', ['127.0.0.0/8', '::1/128']],
    ['private,192.0.2.1', ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7', '192.0.2.1/32']],
  ])('%s names %j', (value, expected) => expect(read(value)).toEqual(expected));

  test.each([
    ...['proxy.example.org', 'public', 'constructor', '10.1', '10.1.2.3:80', '[::1]', 'fe80::1%eth0', '*'],
    ...['10.1.2.3/33', '10.1.2.3/-1', '10.1.2.3/', '::1/129', '::ffff:10.0.0.0/95', '10.1.2.3,'],
    '10.1.2.3 10.1.2.4',
  ])('TRUSTED_PROXIES cannot be %s', (value) => {
    expect(() => read(value)).toThrow(
      `TRUSTED_PROXIES is ${JSON.stringify(value)}; allowed is IP addresses, networks such as 10.1.0.0/16 or 2001:db8::/32, and the names loopback and private, separated by commas.`,
    );
  });
});
