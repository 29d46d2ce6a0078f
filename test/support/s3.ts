import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtemp, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { CreateBucketCommand, DeleteBucketCommand, S3Client } from '@aws-sdk/client-s3';
import { freePort } from './free-port.ts';
import { killProcess } from './kill-process.ts';

const PROGRAM = fileURLToPath(new URL('./s3-server.ts', import.meta.url));
const BUCKET = 'recordings';
/** The one key pair that s3rver knows, twice the same. */
const KEY = 'S3RVER';

/** An S3 server in a process and a temporary folder of its own, with one empty bucket. */
export interface TestS3 {
  /** What Inlet needs to use it: the AWS SDK's variables and Inlet's own. */
  env: Record<string, string>;
  /** Stops answering without closing a connection, as a hung server does. */
  pause(): void;
  resume(): void;
  /** Refuses every request to the bucket with NoSuchBucket until `accept`. */
  refuse(): Promise<void>;
  accept(): Promise<void>;
  /** Ends the process at once, in the middle of whatever it does; what it stored stays. */
  kill(): Promise<void>;
  /** Starts it again on the same port and folder after `kill`. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

export async function startS3(): Promise<TestS3> {
  const folder = await mkdtemp(join(tmpdir(), 'inlet-s3-'));
  const bucketFolder = join(folder, BUCKET);
  let server = await launch(String(await freePort()), folder);
  const { port } = server;
  const kill = () => killProcess(server.process);
  return {
    env: environment(`http://127.0.0.1:${port}`, BUCKET, KEY, KEY),
    pause: () => void server.process.kill('SIGSTOP'),
    resume: () => void server.process.kill('SIGCONT'),
    refuse: () => rename(bucketFolder, `${bucketFolder}.refused`),
    accept: () => rename(`${bucketFolder}.refused`, bucketFolder),
    kill,
    restart: async () => {
      server = await launch(port, folder);
    },
    stop: async () => {
      await kill();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/**
 * A bucket of its own on a server that the test suite does not bring along, with the keys TEST_S3_ACCESS_KEY and
 * TEST_S3_SECRET_KEY; for trying it.
 */
export async function outsideS3(endpoint: string): Promise<Pick<TestS3, 'env' | 'stop'>> {
  const bucket = `inlet-${randomUUID()}`;
  const accessKeyId = process.env.TEST_S3_ACCESS_KEY ?? '';
  const secretAccessKey = process.env.TEST_S3_SECRET_KEY ?? '';
  const credentials = { accessKeyId, secretAccessKey };
  const client = new S3Client({ endpoint, forcePathStyle: true, region: 'us-east-1', credentials });
  await client.send(new CreateBucketCommand({ Bucket: bucket }));
  return {
    env: environment(endpoint, bucket, accessKeyId, secretAccessKey),
    stop: async () => {
      await client.send(new DeleteBucketCommand({ Bucket: bucket }));
      client.destroy();
    },
  };
}

function environment(endpoint: string, bucket: string, key: string, secret: string): Record<string, string> {
  return {
    AWS_ENDPOINT_URL_S3: endpoint,
    AWS_REGION: 'us-east-1',
    AWS_ACCESS_KEY_ID: key,
    AWS_SECRET_ACCESS_KEY: secret,
    S3_BUCKET: bucket,
    S3_FORCE_PATH_STYLE: 'true',
  };
}

async function launch(port: string, folder: string): Promise<{ process: ChildProcess; port: string }> {
  const server = spawn(process.execPath, [PROGRAM, port, folder, BUCKET], {
    // Its standard input ends with this process, however that ends.
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  for await (const line of createInterface(server.stdout)) return { process: server, port: line };
  throw new Error('The S3 server for tests did not start.');
}
