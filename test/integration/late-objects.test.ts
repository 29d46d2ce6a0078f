import { afterAll, beforeAll, expect, test } from 'vitest';
import { S3Storage } from '../../src/storage/s3.ts';
import { createS3Clients } from '../../src/storage/s3-client.ts';
import { StagingLedger } from '../../src/storage/staging.ts';
import { silentLogger } from '../../src/telemetry/log.ts';
import { bytes, source } from '../support/bytes.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { eventually } from '../support/eventually.ts';
import { expectNothingLeftOver } from '../support/leftovers.ts';
import { startS3, type TestS3 } from '../support/s3.ts';

let db: TestDatabase;
let server: TestS3;
let storage: S3Storage;
/** What the storage was asked for and has not answered. */
let late: (() => Promise<unknown>) | undefined;
beforeAll(async () => {
  [db, server] = await Promise.all([createTestDatabase(), startS3()]);
  Object.assign(process.env, server.env);
  const clients = createS3Clients({ forcePathStyle: true });
  clients.client.middlewareStack.add(
    (next, context) => async (args) => {
      if (context.commandName !== 'PutObjectCommand') return next(args);
      late = () => next(args);
      throw Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' });
    },
    // Below the SDK's retries.
    { step: 'deserialize', priority: 'high' },
  );
  storage = new S3Storage({ ...clients, bucket: server.env.S3_BUCKET ?? '' });
  await eventually(() => storage.check());
});
afterAll(async () => {
  await storage.close();
  await Promise.all([db.close(), server.stop()]);
});

test('an object that the storage stores long after it was given up does not stay', async () => {
  const { database } = db;
  const ledger = new StagingLedger({ database, storage, owner: 'process', log: silentLogger });
  const key = await ledger.stage('track');
  const onDoubt = () => ledger.doubt(key);
  const putting = storage.put(key, source(bytes(1000)), { mediatype: 'video/mp4', onDoubt });
  await expect(putting).rejects.toMatchObject({ cause: { message: 'socket hang up' } });
  await ledger.discard([key]);
  expect(await ledger.sweep(undefined)).toBe(1);
  await late?.();
  expect(await storage.size(key)).toBe(1000);
  expect(await ledger.sweep(undefined)).toBe(0);
  await database
    .updateTable('staging')
    .set({ expires_at: new Date(0) })
    .execute();
  expect(await ledger.sweep(undefined)).toBe(1);
  await expectNothingLeftOver({ database, storage });
  expect(await database.selectFrom('staging').selectAll().execute()).toEqual([]);
  ledger.close();
});
