import { fileURLToPath } from 'node:url';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { bucketPlace } from '#platform/storage/s3-backend.ts';
import {
  databaseEndpoints,
  keySetEndpoints,
  listenEndpoint,
  redisEndpoints,
  urlHostEndpoints,
} from './network-endpoints.ts';

const at = (...hosts: string[]) => ({ hosts, sockets: [], files: [] });

test.each([
  ['database', 'postgres://user:secret@db.example.org/inlet', at('db.example.org:5432')],
  ['database', 'postgres://user@db.example.org:6000/inlet?sslmode=require', at('db.example.org:6000')],
  ['database', 'postgres://user@[::1]:6000/inlet', at('[::1]:6000')],
  ['database', 'postgres:///inlet?host=/run/pg&user=inlet', { ...at(), sockets: ['/run/pg/.s.PGSQL.5432'] }],
  ['Redis', 'redis://cache', at('cache:6379')],
  ['Redis', 'rediss://:secret@cache:7000/2', at('cache:7000')],
  ['key set', 'https://id.example.org/certs', at('id.example.org:443')],
  ['key set', 'http://id.example.org/certs', at('id.example.org:80')],
  ['key set', 'http://[::1]:8081/certs', at('[::1]:8081')],
  ['key set', '/etc/inlet/keys.json', { ...at(), files: ['/etc/inlet/keys.json'] }],
] as const)('the %s of %s is at %j', (kind, url, endpoints) => {
  const endpointsOf = { database: databaseEndpoints, Redis: redisEndpoints, 'key set': keySetEndpoints }[kind];
  expect(endpointsOf(url)).toEqual(endpoints);
});

test('certificates named in the URL are files to read', () => {
  const file = fileURLToPath(import.meta.url);
  const url = `postgres://user@db/inlet?sslmode=verify-full&sslrootcert=${encodeURIComponent(file)}`;
  expect(databaseEndpoints(url).files).toEqual([file]);
});

test.each([
  ['127.0.0.1', '127.0.0.1:8080'],
  ['::', '[::]:8080'],
  ['[::1]', '[::1]:8080'],
])('HOST %s listens at %s', (host, endpoint) => {
  expect(listenEndpoint({ host, port: 8080 })).toBe(endpoint);
});

test('files come from the named hosts, at the usual ports unless others are named', () => {
  const media = { host: 'media.example.org', port: undefined };
  const { hosts } = urlHostEndpoints([media, { host: '[2001:db8::1]', port: 8443 }]);
  expect(hosts).toEqual(['media.example.org:80', 'media.example.org:443', '[2001:db8::1]:8443']);
});

describe('a bucket', () => {
  const REGION = { AWS_REGION: 'eu-west-1' };
  const KEYS = { ...REGION, AWS_ACCESS_KEY_ID: 'id', AWS_SECRET_ACCESS_KEY: 'key' };
  const FETCHED = { ...REGION, AWS_CONTAINER_CREDENTIALS_FULL_URI: 'http://169.254.170.23/v1/credentials' };
  const BUCKET = 'lectures.s3.eu-west-1.amazonaws.com:443';
  beforeEach(() => {
    for (const name of Object.keys(process.env)) if (name.startsWith('AWS_')) vi.stubEnv(name, undefined);
    // No configuration of this machine's user.
    vi.stubEnv('AWS_CONFIG_FILE', '/nowhere');
    vi.stubEnv('AWS_SHARED_CREDENTIALS_FILE', '/nowhere');
  });

  /** As the SDK, which reads the process's own environment, would see it. */
  function endpoints(environment: Record<string, string>, forcePathStyle = false) {
    for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value);
    return bucketPlace({ bucket: 'lectures', forcePathStyle }).endpoints(environment);
  }

  test.each([
    ['on AWS, in its region', KEYS, false, [BUCKET]],
    ['with path style, without its name', KEYS, true, ['s3.eu-west-1.amazonaws.com:443']],
    ['elsewhere', { ...KEYS, AWS_ENDPOINT_URL_S3: 'http://minio:9000' }, true, ['minio:9000']],
    ['with keys that a container fetches where it was told', FETCHED, false, [BUCKET, '169.254.170.23:80']],
  ])('is at its host: %s', async (_, environment, pathStyle, hosts) => {
    expect(await endpoints(environment, pathStyle)).toMatchObject({ hosts, sockets: [] });
  });

  test('with keys given needs nothing else; without, those of the machine or of its shared files', async () => {
    expect((await endpoints(KEYS)).files).toEqual([]);
    for (const name of Object.keys(KEYS)) vi.stubEnv(name, undefined);
    const { hosts, files } = await endpoints({ ...REGION, HOME: '/home/inlet' });
    expect(hosts).toContain('169.254.169.254:80');
    expect(files).toEqual(['/home/inlet/.aws']);
  });

  test('without a region is refused before the start', async () => {
    await expect(endpoints({})).rejects.toThrow(
      /^Cannot determine the address of the bucket "lectures" \(S3_BUCKET\).*AWS_REGION/,
    );
  });
});
