import { join } from 'node:path';
import pg from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import type { ListOptions } from '../../src/storage/port.ts';
import type { Finding } from '../../src/upkeep/verify/finding.ts';
import { Notes } from '../../src/upkeep/verify/notes.ts';
import { verify } from '../../src/upkeep/verify/verify.ts';
import { createTestApp, type TestApp } from '../support/app.ts';
import { created, post } from '../support/app-uploads.ts';
import { bytes, source } from '../support/bytes.ts';
import { eventFields, file } from '../support/form.ts';

async function connect(app: TestApp): Promise<pg.Client> {
  const client = new pg.Client(app.context.databaseUrl);
  onTestFinished(() => client.end());
  await client.connect();
  return client;
}

test('an object that was not listed, and is there as its row says, is read like the others', async () => {
  const app = await createTestApp();
  onTestFinished(() => app.close());
  const { storage } = app;
  await created(await post(app, [...eventFields(), file('presenter', 'camera.mp4', bytes(500))]));
  const [{ key = '', size = 0 } = {}] = await Array.fromAsync(storage.list(''));
  await storage.remove([key]);
  await storage.put(key, source(Buffer.alloc(size)), { mediatype: 'video/mp4' });
  const parts = {
    ...{ rows: await connect(app), look: await connect(app) },
    storage: {
      // As if it were stored while the storage was being listed.
      async *list(prefix: string, options?: ListOptions) {
        for await (const object of storage.list(prefix, options)) if (object.key !== key) yield object;
      },
      unfinished: (prefix?: string) => storage.unfinished(prefix),
      check: () => storage.check(),
      size: (each: string) => storage.size(each),
      get: (...args: Parameters<typeof storage.get>) => storage.get(...args),
    },
  };
  const notes = new Notes(join(app.context.config.dataDir, 'verify.jsonl'));
  await notes.begin({ digests: true });
  const found: Finding[] = [];
  const { bytes: read } = await verify(parts, {
    ...{ digests: true, notes, from: undefined, onProgress: () => undefined },
    onFinding: (finding) => void found.push(finding),
  });
  expect(found).toMatchObject([{ kind: 'digest', key }]);
  expect(read).toBe(size);
});
