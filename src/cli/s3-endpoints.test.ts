import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { s3Endpoints } from './s3-endpoints.ts';

const KEYS = { AWS_ACCESS_KEY_ID: 'id', AWS_SECRET_ACCESS_KEY: 'key', AWS_REGION: 'eu-west-1' };

beforeEach(() => {
  for (const name of Object.keys(process.env)) if (name.startsWith('AWS_')) vi.stubEnv(name, undefined);
  // No configuration of this machine's user.
  vi.stubEnv('AWS_CONFIG_FILE', '/nowhere');
  vi.stubEnv('AWS_SHARED_CREDENTIALS_FILE', '/nowhere');
});
afterEach(() => vi.unstubAllEnvs());

/** As the SDK, which reads the process's own environment, would see it. */
function endpoints(environment: Record<string, string>, forcePathStyle = false) {
  for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value);
  return s3Endpoints({ bucket: 'lectures', forcePathStyle }, environment);
}

test('on AWS it is the host of the bucket in its region, and with keys given nothing else', async () => {
  expect(await endpoints(KEYS)).toEqual({
    hosts: ['lectures.s3.eu-west-1.amazonaws.com:443'],
    sockets: [],
    files: [],
  });
});

test('path style has the host without the bucket', async () => {
  expect((await endpoints(KEYS, true)).hosts).toEqual(['s3.eu-west-1.amazonaws.com:443']);
});

test('another store is at its own address', async () => {
  const environment = { ...KEYS, AWS_ENDPOINT_URL_S3: 'http://minio:9000' };
  expect((await endpoints(environment, true)).hosts).toEqual(['minio:9000']);
});

test("without keys, those of the machine's role can be fetched and the shared files be read", async () => {
  const { hosts, files } = await endpoints({ AWS_REGION: 'eu-west-1', HOME: '/home/inlet' });
  expect(hosts).toContain('169.254.169.254:80');
  expect(files).toEqual(['/home/inlet/.aws']);
});

test('a container fetches its keys from the address it was given', async () => {
  const { hosts } = await endpoints({
    AWS_REGION: 'eu-west-1',
    AWS_CONTAINER_CREDENTIALS_FULL_URI: 'http://169.254.170.23/v1/credentials',
  });
  expect(hosts).toEqual(['lectures.s3.eu-west-1.amazonaws.com:443', '169.254.170.23:80']);
});

test('a missing region is told before the start', async () => {
  await expect(endpoints({})).rejects.toThrow(/^S3_BUCKET is "lectures".*AWS_REGION/);
});
