import { homedir } from 'node:os';
import { join } from 'node:path';
import { type Endpoints, hostAndPort } from '../outbound/endpoints.ts';
import { ConfigError, flag, text } from '../setting/value-kinds.ts';
import { defineBackend, type StoragePlace } from './storage-backend.ts';
import { UploadMemory } from './upload-memory.ts';

/** The instance metadata service, and that of containers. */
const INSTANCE_METADATA = ['169.254.169.254:80', '[fd00:ec2::254]:80'];
const CONTAINER_METADATA = '169.254.170.2:80';
/** Token services and single sign-on; which ones depends on files that only the SDK reads. */
const TOKEN_SERVICES = ['*.amazonaws.com:443', '*.amazonaws.com.cn:443'];

type Environment = Parameters<StoragePlace['endpoints']>[0];

/** A bucket; `forcePathStyle` for servers that do not give it a host name. */
export interface Bucket {
  bucket: string;
  forcePathStyle: boolean;
}

/** Buckets of S3 and compatible servers; the AWS SDK reads its other variables itself. */
export const s3Backend = defineBackend({
  variables: { S3_BUCKET: text.optional(), S3_FORCE_PATH_STYLE: flag.default(false) },
  place: ({ S3_BUCKET: bucket, S3_FORCE_PATH_STYLE: forcePathStyle }) =>
    bucket === undefined ? undefined : bucketPlace({ bucket, forcePathStyle }),
});

export function bucketPlace(bucket: Bucket): StoragePlace {
  return {
    name: `bucket ${bucket.bucket} (S3_BUCKET)`,
    settings: 'S3_BUCKET and the AWS variables',
    endpoints: (environment) => bucketEndpoints(bucket, environment),
    open: async (memoryBytes) => {
      // The SDK takes about ten megabytes, which other backends do not need.
      const [{ S3Storage }, { createS3Clients }] = await Promise.all([import('./s3.ts'), import('./s3-client.ts')]);
      const memory = new UploadMemory(memoryBytes);
      return new S3Storage({ ...createS3Clients(bucket), bucket: bucket.bucket, memory });
    },
  };
}

/** Returns the bucket's host as the SDK computes it, and the sources of credentials. */
async function bucketEndpoints(bucket: Bucket, environment: Environment): Promise<Endpoints> {
  const endpoints: Endpoints = { hosts: [await hostOf(bucket)], sockets: [], files: [] };
  const fixed = environment.AWS_ACCESS_KEY_ID && environment.AWS_SECRET_ACCESS_KEY;
  if (!fixed) endpoints.hosts.push(...credentialHosts(environment));
  if (!fixed || !environment.AWS_REGION) endpoints.files.push(...sharedFiles(environment));
  endpoints.files.push(...values(environment, 'AWS_WEB_IDENTITY_TOKEN_FILE', 'AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE'));
  return endpoints;
}

/** Lets the SDK compute the host of a request for the bucket, without sending one. */
async function hostOf({ bucket, forcePathStyle }: Bucket): Promise<string> {
  const { S3Client, HeadBucketCommand } = await import('@aws-sdk/client-s3');
  let host: string | undefined;
  const client = new S3Client({
    forcePathStyle,
    credentials: { accessKeyId: 'none', secretAccessKey: 'none' },
    maxAttempts: 1,
    requestHandler: {
      handle: async (request: { hostname: string; port?: number; protocol: string }) => {
        host = hostAndPort(request.hostname, request.port ?? (request.protocol === 'http:' ? 80 : 443));
        throw new Error('Nothing is sent.');
      },
    },
  });
  try {
    await client.send(new HeadBucketCommand({ Bucket: bucket }));
  } catch (error) {
    if (host === undefined) {
      throw new ConfigError(
        `Cannot determine the address of the bucket ${JSON.stringify(bucket)} (S3_BUCKET): ${error instanceof Error ? error.message : error} (AWS_REGION, AWS_ENDPOINT_URL_S3)`,
      );
    }
  }
  return host ?? '';
}

function credentialHosts(environment: Environment): string[] {
  const full = environment.AWS_CONTAINER_CREDENTIALS_FULL_URI;
  if (full && URL.canParse(full)) {
    const { hostname, port, protocol } = new URL(full);
    return [hostAndPort(hostname, port || (protocol === 'http:' ? 80 : 443))];
  }
  if (environment.AWS_CONTAINER_CREDENTIALS_RELATIVE_URI) return [CONTAINER_METADATA];
  if (environment.AWS_WEB_IDENTITY_TOKEN_FILE) return TOKEN_SERVICES;
  return [...TOKEN_SERVICES, ...INSTANCE_METADATA];
}

function sharedFiles(environment: Environment): string[] {
  const folder = join(environment.HOME || homedir(), '.aws');
  return [folder, ...values(environment, 'AWS_CONFIG_FILE', 'AWS_SHARED_CREDENTIALS_FILE')];
}

function values(environment: Environment, ...names: string[]): string[] {
  return names.flatMap((name) => environment[name] || []);
}
