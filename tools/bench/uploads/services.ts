import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { folderPlace } from '../../../src/platform/storage/folder.ts';
import type { Bench } from '../setup/bench.ts';
import { type Place, startServer } from './peers.ts';
import type { StoreTask } from './s3-store.process.ts';

/** What the line is made longer by, in milliseconds there and back. */
export const ROUND_TRIP_MS = 40;

/** A bucket and two ways to it. */
export interface Buckets {
  /** What is there, for the notes. */
  server: string;
  near: Place;
  /** Through a proxy that brings everything later. */
  far: Place;
}

/** The configured bucket, else that of a server of the benchmark's own; the way that is far leads to the latter. */
export async function findBuckets(bench: Bench): Promise<Buckets> {
  const folder = join(bench.folder, 's3');
  mkdirSync(folder);
  const store = await startServer<StoreTask>(bench, './s3-store.process.ts', {}, folder);
  const proxy = await startServer(bench, './latency.process.ts', {}, String(store.port), String(ROUND_TRIP_MS));
  const own = (port: number): Place => ({
    env: {
      AWS_ENDPOINT_URL_S3: `http://127.0.0.1:${port}`,
      AWS_REGION: 'us-east-1',
      AWS_ACCESS_KEY_ID: 'bench',
      AWS_SECRET_ACCESS_KEY: 'bench',
      S3_BUCKET: 'bench',
      S3_FORCE_PATH_STYLE: 'true',
    },
    storage: { remove: async () => void (await store.run({ forget: true })) },
  });
  const far = own(proxy.port);
  if (bench.env.S3_BUCKET) {
    return { server: bench.services.storage ?? 'S3', near: { env: {}, storage: bench.storage }, far };
  }
  return { server: 'a server of the benchmark that keeps each part as a file', near: own(store.port), far };
}

/** A folder of the run's own. */
export async function makeFolder(bench: Bench): Promise<Place> {
  const dataDir = join(bench.folder, 'inlet');
  const env = { DATA_DIR: dataDir, S3_BUCKET: '' };
  return { env, storage: await folderPlace(dataDir).open() };
}
