import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { folderPlace } from '#platform/storage/folder.ts';
import type { ObjectStorage } from '#platform/storage/object-storage.ts';
import { bucketPlace } from '#platform/storage/s3-backend.ts';
import { eventually } from './eventually.ts';
import { outsideS3, startS3, type TestS3 } from './s3.ts';

const PUT_PROCESS = fileURLToPath(new URL('./put-process.ts', import.meta.url));

/** An empty object storage of one kind, built as the product builds it. */
export interface TestStorage {
  storage: ObjectStorage;
  dataDir: string;
  bucket: string;
  stop(): Promise<void>;
}

async function folder(): Promise<TestStorage> {
  const dataDir = await mkdtemp(join(tmpdir(), 'inlet-folder-'));
  const storage = await folderPlace(dataDir).open();
  return { storage, dataDir, bucket: '', stop: () => rm(dataDir, { recursive: true }) };
}

/** The bucket of a server, when it answers. */
export async function bucketStorage(env: Record<string, string>): Promise<ObjectStorage> {
  Object.assign(process.env, env);
  const storage = await bucketPlace({ bucket: env.S3_BUCKET ?? '', forcePathStyle: true }).open();
  // The SDK reads the environment with its first request.
  await eventually(() => storage.check());
  return storage;
}

async function bucketOn({ env, stop }: Pick<TestS3, 'env' | 'stop'>): Promise<TestStorage> {
  return { storage: await bucketStorage(env), dataDir: '', bucket: env.S3_BUCKET ?? '', stop };
}

/** Every kind there is, by name. */
export const storages: [string, () => Promise<TestStorage>][] = [
  ['folder', folder],
  ['S3', async () => bucketOn(await startS3())],
];
const outside = process.env.TEST_S3_ENDPOINT;
if (outside) storages.push(['S3 outside', async () => bucketOn(await outsideS3(outside))]);

/** Puts an object from a process of its own; see put-process.ts. */
export function putProcess(
  { dataDir, bucket }: TestStorage,
  key: string,
  size: number,
  ...more: string[]
): ChildProcess {
  const program = [PUT_PROCESS, dataDir, bucket, key, String(size), ...more];
  return spawn(process.execPath, program, { stdio: ['ignore', 'pipe', 'inherit'] });
}
