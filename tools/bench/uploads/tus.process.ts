/**
 * The tus server with its own stores, everything durable before the last answer. A process of its own, answering tasks
 * with its port (see `helper-process.ts`); the argument is the folder of its file store, without which it uses the bucket
 * that the environment names.
 */
import { open } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { DeleteObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { FileStore } from '@tus/file-store';
import { S3Store } from '@tus/s3-store';
import { Server } from '@tus/server';
import { serveTasks } from '../support/helper-process.ts';
import { listen } from '../support/listen.ts';

export interface TusTask {
  /** Uploads to be forgotten, complete ones. */
  forget?: string[];
}

const [, , folder] = process.argv;
const { S3_BUCKET = '' } = process.env;
// Stores other than AWS refuse the checksums that the SDK would add to every request.
const options = { forcePathStyle: true, requestChecksumCalculation: 'WHEN_REQUIRED' } as const;

const tus = new Server({
  path: '/files',
  datastore:
    folder === undefined
      ? new S3Store({ s3ClientConfig: { bucket: S3_BUCKET, ...options } })
      : new FileStore({ directory: folder }),
  onUploadFinish: async (_request, { id }) => {
    if (folder !== undefined) await sync(join(folder, id));
    return {};
  },
});

async function sync(path: string): Promise<void> {
  const file = await open(path, 'r+');
  await file.sync();
  await file.close();
}

/** Its S3 store removes no complete upload: it finds nothing to abort. */
async function forget(id: string): Promise<void> {
  if (folder !== undefined) return tus.datastore.remove(id);
  const client = new S3Client(options);
  for (const Key of [id, `${id}.info`]) await client.send(new DeleteObjectCommand({ Bucket: S3_BUCKET, Key }));
  client.destroy();
}

const port = await listen(createServer(tus.handle.bind(tus)));
await serveTasks(async (task: TusTask) => {
  for (const id of task.forget ?? []) await forget(id);
  return { port };
});
process.exit();
