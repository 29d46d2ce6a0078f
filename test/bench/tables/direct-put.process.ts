/**
 * Writes objects straight into the configured object storage, from bytes made on the way: what an upload is compared
 * with. A process of its own, answering tasks (see `helper-process.ts`).
 */
import { Readable } from 'node:stream';
import { loadConfig } from '../../../src/config.ts';
import { createStorage } from '../../../src/storage/create.ts';
import { serveTasks } from '../support/helper-process.ts';
import { cheapBytes } from '../support/http-client.ts';

export interface DirectPut {
  key: string;
  bytes: number;
}

const storage = await createStorage(loadConfig(process.env));
await serveTasks(async ({ key, bytes }: DirectPut): Promise<{ ms: number }> => {
  const started = performance.now();
  await storage.put(key, Readable.from(cheapBytes(bytes), { objectMode: false }), {
    mediatype: 'application/octet-stream',
    expectedBytes: bytes,
  });
  return { ms: performance.now() - started };
});
await storage.close();
