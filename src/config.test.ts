import { expect, test } from 'vitest';
import { loadConfig } from './config.ts';

const JWT = {
  JWT_JWKS: 'https://id.example.org/certs',
  JWT_ISSUER: 'https://id.example.org',
  JWT_AUDIENCE: 'inlet',
};

test('an identity provider is configured by where its keys are, its issuer and its audience', () => {
  expect(loadConfig({}).jwt).toBeUndefined();
  expect(loadConfig(JWT).jwt).toEqual({
    keySet: 'https://id.example.org/certs',
    issuer: 'https://id.example.org',
    audience: 'inlet',
    claims: { roles: 'roles', username: 'sub' },
  });
  const claims = { JWT_ROLES_CLAIM: 'realm_access.roles', JWT_USERNAME_CLAIM: 'preferred_username' };
  expect(loadConfig({ ...JWT, ...claims, JWT_JWKS: '/etc/keys.json' }).jwt).toMatchObject({
    keySet: '/etc/keys.json',
    claims: { roles: 'realm_access.roles', username: 'preferred_username' },
  });
});

test.each(['JWT_ISSUER', 'JWT_AUDIENCE'])('without %s a key set stops the start', (name) => {
  expect(() => loadConfig({ ...JWT, [name]: '' })).toThrow(
    `${name} is not set; it must be while JWT_JWKS is.`,
  );
});

test.each(['keys.json', 'ftp://id.example.org/certs', 'https://', 'https://user:secret@id.example.org/'])(
  'JWT_JWKS cannot be %s',
  (JWT_JWKS) => {
    // No password gets into the log.
    expect(() => loadConfig({ ...JWT, JWT_JWKS })).toThrow(/^JWT_JWKS is (?!.*secret).*; allowed is a URL/);
  },
);

test('other sites are named by their origins', () => {
  expect(loadConfig({}).corsOrigins).toEqual([]);
  expect(loadConfig({ CORS_ORIGINS: 'https://lms.example.org, http://127.0.0.1:3000' }).corsOrigins).toEqual([
    'https://lms.example.org',
    'http://127.0.0.1:3000',
  ]);
});

test.each([
  '*',
  'null',
  'https://lms.example.org/',
  'lms.example.org',
  'https://LMS.example.org',
  'https://a,',
])('CORS_ORIGINS cannot be %s', (CORS_ORIGINS) => {
  expect(() => loadConfig({ CORS_ORIGINS })).toThrow(/^CORS_ORIGINS is ".*"; allowed is origins as/);
});

test('traces are sent where a collector has been named, unless they are switched off', () => {
  const traces = (environment: Record<string, string>) => loadConfig(environment).traces;
  const OTEL_EXPORTER_OTLP_ENDPOINT = 'https://user:secret@collector.example.org/otlp';
  const collector = { origin: 'https://collector.example.org', format: 'protobuf' };
  expect(traces({})).toBeUndefined();
  expect(traces({ OTEL_EXPORTER_OTLP_ENDPOINT })).toEqual(collector);
  const OTEL_EXPORTER_OTLP_TRACES_ENDPOINT = 'http://localhost:4318/v1/traces';
  const OTEL_EXPORTER_OTLP_PROTOCOL = 'http/json';
  expect(
    traces({ OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT, OTEL_EXPORTER_OTLP_PROTOCOL }),
  ).toEqual({
    origin: 'http://localhost:4318',
    format: 'json',
  });
  expect(traces({ OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_SDK_DISABLED: 'TRUE' })).toBeUndefined();
  expect(traces({ OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_TRACES_EXPORTER: 'none' })).toBeUndefined();
  expect(() => traces({ OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' })).toThrow(
    'OTEL_EXPORTER_OTLP_PROTOCOL is "grpc"; allowed is one of http/protobuf, http/json.',
  );
});

test('METRICS_PORT is another port than PORT', () => {
  expect(() => loadConfig({ PORT: '9000', METRICS_PORT: '9000' })).toThrow(
    'METRICS_PORT is 9000, which is PORT; allowed is another one.',
  );
});
