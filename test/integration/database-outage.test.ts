import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Database } from '../../src/database/kysely.ts';
import { DatabaseWatch } from '../../src/database/watch.ts';
import { IdempotencyLedger } from '../../src/idempotency/ledger.ts';
import { sweepIdempotencyKeys } from '../../src/idempotency/sweep.ts';
import { FolderStorage } from '../../src/storage/folder.ts';
import { objectKey } from '../../src/storage/keys.ts';
import { StagingLedger } from '../../src/storage/staging.ts';
import { silentLogger } from '../../src/telemetry/log.ts';
import { claimOperation, heartbeat, recoverLostOperations } from '../../src/workflows/claims.ts';
import { bytes, source } from '../support/bytes.ts';
import type { TestDatabase } from '../support/database.ts';
import { eventually } from '../support/eventually.ts';
import { createPartedDatabase, type PartedDatabase } from '../support/parted-database.ts';
import type { TestProxy } from '../support/proxy.ts';
import { AT_ONCE, operationsOf, startTestWorkflow } from '../support/workflows.ts';

let parted: PartedDatabase;
let db: TestDatabase;
let proxy: TestProxy;
/** The database as the processes of the service reach it. */
let database: Database;
let folder: string;
beforeAll(async () => {
  parted = await createPartedDatabase();
  ({ db, proxy, database } = parted);
  folder = await mkdtemp(join(tmpdir(), 'inlet-outage-'));
});
afterAll(async () => {
  await parted?.close();
  await rm(folder, { recursive: true });
});

test('nobody loses an upload, an operation or a key by having been silent while the database was away', async () => {
  const storage = await new FolderStorage(folder).open();
  const watch = new DatabaseWatch(database, { lookMs: 20, gapMs: 500 });
  const staging = new StagingLedger({ database, storage, owner: 'uploading', log: silentLogger });
  const keys = new IdempotencyLedger({ database, watch, log: silentLogger });
  try {
    await eventually(() => expect(watch.seen).toBeDefined());
    const key = await staging.stage('track');
    await storage.put(key, source(bytes(100)), { mediatype: 'video/mp4' });
    const { workflowId } = await startTestWorkflow(database);
    const [operation] = await operationsOf(database, workflowId);
    const claim = await claimOperation(database, operation?.id ?? 0, 'worker', AT_ONCE);
    if (!claim) throw new Error('There was nothing to claim.');
    await keys.take('ada', 'key');

    await proxy.part();
    await pause(600);
    // As if more than a minute had passed.
    const lastSign = sql<Date>`now() - interval '15 seconds'`;
    await db.database.updateTable('staging').set({ expires_at: lastSign }).execute();
    await db.database.updateTable('idempotency_keys').set({ expires_at: lastSign }).execute();
    await db.database.updateTable('workflow_operations').set({ heartbeat_at: lastSign }).execute();
    const before = watch.seen?.until.getTime() ?? 0;
    await proxy.join();
    await eventually(() => expect(watch.seen?.until.getTime()).toBeGreaterThan(before));

    expect(await staging.sweep(watch.seen)).toBe(0);
    expect(await recoverLostOperations(database, watch.seen)).toEqual([]);
    expect(await sweepIdempotencyKeys(database, watch.seen)).toBe(0);
    expect((await keys.take('ada', 'key')).state).toBe('under way');
    await staging.renew();
    expect(await heartbeat(database, claim, 0)).toBe(true);
    await database.transaction().execute((trx) => staging.commit(trx, [key]));
    expect(await Array.fromAsync(storage.list(''))).toMatchObject([{ key }]);
  } finally {
    staging.close();
    keys.close();
    watch.close();
  }
});

test('what nobody owns is removed all the same', async () => {
  const storage = await new FolderStorage(folder).open();
  const staging = new StagingLedger({ database, storage, owner: randomUUID(), log: silentLogger });
  await db.database
    .insertInto('staging')
    .values({ object_key: objectKey('track'), owner: null, expires_at: new Date(0) })
    .execute();
  await staging.sweep(undefined);
  staging.close();
  const left = await db.database.selectFrom('staging').select('object_key').execute();
  expect(left).toEqual([]);
});
