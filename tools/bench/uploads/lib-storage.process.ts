/**
 * Sends a local file to the bucket that the environment names, by `@aws-sdk/lib-storage` alone and as it comes. A process
 * of its own, answering tasks (see `helper-process.ts`).
 */
import { createReadStream } from 'node:fs';
import { DeleteObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { Upload } from '@aws-sdk/lib-storage';
import { serveTasks } from '../support/helper-process.ts';

export interface LibStorageTask {
  file: string;
  /** At once. */
  uploads: number;
  /** Its own default unless given. */
  partSize?: number;
  queueSize?: number;
}

const Bucket = process.env.S3_BUCKET;
// As Inlet has it: stores other than AWS refuse the checksums that the SDK would add to every request.
const client = new S3Client({ forcePathStyle: true, requestChecksumCalculation: 'WHEN_REQUIRED' });

await serveTasks(async ({ file, uploads, ...options }: LibStorageTask): Promise<{ ms: number }> => {
  const keys = Array.from({ length: uploads }, (_, i) => `bench/lib-storage-${process.pid}-${i}`);
  const started = performance.now();
  await Promise.all(
    keys.map((Key) => new Upload({ client, params: { Bucket, Key, Body: createReadStream(file) }, ...options }).done()),
  );
  const ms = performance.now() - started;
  for (const Key of keys) await client.send(new DeleteObjectCommand({ Bucket, Key }));
  return { ms };
});
client.destroy();
