import { homedir } from 'node:os';
import { join } from 'node:path';
import type { Config } from '../config.ts';
import { type Endpoints, hostAndPort } from './endpoints.ts';
import { CommandError } from './failure.ts';

/** The instance metadata service, and the same for containers. */
const INSTANCE_METADATA = ['169.254.169.254:80', '[fd00:ec2::254]:80'];
const CONTAINER_METADATA = '169.254.170.2:80';
/** Token services and single sign-on; which ones depends on files that only the SDK reads. */
const TOKEN_SERVICES = ['*.amazonaws.com:443', '*.amazonaws.com.cn:443'];

type Environment = Record<string, string | undefined>;

/**
 * Where the S3 client connects to, and what it reads, with this environment: the bucket's host as the SDK itself
 * works it out, and where credentials come from.
 */
export async function s3Endpoints(
  s3: NonNullable<Config['s3']>,
  environment: Environment,
): Promise<Endpoints> {
  const endpoints: Endpoints = { hosts: [await bucketHost(s3)], sockets: [], files: [] };
  const fixed = environment.AWS_ACCESS_KEY_ID && environment.AWS_SECRET_ACCESS_KEY;
  if (!fixed) endpoints.hosts.push(...credentialHosts(environment));
  if (!fixed || !environment.AWS_REGION) endpoints.files.push(...sharedFiles(environment));
  endpoints.files.push(
    ...values(environment, 'AWS_WEB_IDENTITY_TOKEN_FILE', 'AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE'),
  );
  return endpoints;
}

/** Asks the SDK where a request for the bucket would go; none is sent. */
async function bucketHost(s3: NonNullable<Config['s3']>): Promise<string> {
  const { S3Client, HeadBucketCommand } = await import('@aws-sdk/client-s3');
  let host: string | undefined;
  const client = new S3Client({
    forcePathStyle: s3.forcePathStyle,
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
    await client.send(new HeadBucketCommand({ Bucket: s3.bucket }));
  } catch (error) {
    if (host === undefined) {
      throw new CommandError(
        `S3_BUCKET is ${JSON.stringify(s3.bucket)}, but where it is cannot be told: ${error instanceof Error ? error.message : error} (AWS_REGION, AWS_ENDPOINT_URL_S3)`,
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

/** Those that are set. */
function values(environment: Environment, ...names: string[]): string[] {
  return names.flatMap((name) => environment[name] || []);
}
