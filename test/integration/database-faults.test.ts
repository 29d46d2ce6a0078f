import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { sql } from 'kysely';
import { describe, expect, onTestFinished, test } from 'vitest';
import { IdempotencyLedger, sweepIdempotencyKeys } from '#access/idempotency/idempotency-ledger.ts';
import { DatabaseWatch } from '#platform/database/database-watch.ts';
import type { Database } from '#platform/database/kysely.ts';
import { FolderStorage } from '#platform/storage/folder.ts';
import { objectKey } from '#platform/storage/object-keys.ts';
import { StagingLedger } from '#platform/storage/staging.ts';
import { silentLogger } from '#platform/telemetry/log.ts';
import { type Claim, claimOperation, heartbeat, recoverLostOperations } from '#processing/operation-claims.ts';
import { assignLanes, isAnythingDue, takeDeliveries, takeOverdue } from '#processing/outbox.ts';
import { ownApp } from '../support/app.ts';
import { bytes, source } from '../support/bytes.ts';
import { createTestDatabase } from '../support/database.ts';
import { withClock } from '../support/database-clock.ts';
import { eventually } from '../support/eventually.ts';
import { createPartedDatabase } from '../support/parted-database.ts';
import { AT_ONCE, operationsOf, startTestWorkflow } from '../support/workflows.ts';

async function claimed(database: Database, worker: string): Promise<Claim> {
  const { workflowId } = await startTestWorkflow(database);
  const [operation] = await operationsOf(database, workflowId);
  const claim = await claimOperation(database, operation?.id ?? 0, worker, AT_ONCE);
  if (!claim) throw new Error('It was not ready.');
  return claim;
}

/** A watch that has looked once. */
async function watching(database: Database, options: { lookMs: number; gapMs: number }) {
  const watch = new DatabaseWatch(database, options);
  onTestFinished(() => watch.close());
  await eventually(() => expect(watch.seen).toBeDefined());
  return watch;
}

describe('a clock of the database that is set back', () => {
  const HOUR = 3600;
  const OVERDUE_MS = 15_000;

  async function clockedDatabase() {
    const db = await createTestDatabase();
    onTestFinished(db.close);
    const clocked = await withClock(db);
    onTestFinished(clocked.close);
    return clocked;
  }

  test('keeps no operation with a worker that died, and takes none from one that lives', async () => {
    const { database, step } = await clockedDatabase();
    // Time passes beside the steps, however slow the test is: that is no outage. An hour is.
    const watch = await watching(database, { lookMs: 1_000_000, gapMs: 600_000 });
    const [dead, living] = [await claimed(database, 'dead'), await claimed(database, 'living')];
    async function pass(seconds: number): Promise<number[]> {
      const recovered: number[] = [];
      for (let i = 0; i < seconds; i += 3) {
        await step(3);
        await watch.look();
        expect(await heartbeat(database, living, 0.5)).toBe(true);
        recovered.push(...(await recoverLostOperations(database, watch.seen)));
      }
      return recovered;
    }
    await pass(3);
    await step(-HOUR);
    // What was seen before says nothing of a time that nobody has looked at since.
    expect(await recoverLostOperations(database, watch.seen)).toEqual([]);
    expect(await pass(6)).toEqual([]);
    expect(await pass(15)).toEqual([dead.operationId]);
  });

  test('has a delivery from before looked into again', async () => {
    const { database, step } = await clockedDatabase();
    const { workflowId } = await startTestWorkflow(database);
    await assignLanes(database, async (ready) => new Map(ready.map((each) => [each.operationId, 'light'])));
    await takeDeliveries(database, ['light']);
    await step(-10);
    expect(await isAnythingDue(database, OVERDUE_MS)).toBe(false);
    expect(await takeOverdue(database, OVERDUE_MS)).toEqual([]);
    await step(-HOUR);
    expect(await isAnythingDue(database, OVERDUE_MS)).toBe(true);
    const [operation] = await operationsOf(database, workflowId);
    const overdue = await takeOverdue(database, OVERDUE_MS);
    expect(overdue.map(({ operationId }) => operationId)).toContain(operation?.id);
    expect(await isAnythingDue(database, OVERDUE_MS)).toBe(false);
  });
});

test('while the database is away, the silent lose no upload, operation or key; what nobody owns is removed', async () => {
  const { db, proxy, database, close } = await createPartedDatabase();
  onTestFinished(close);
  const folder = await mkdtemp(join(tmpdir(), 'inlet-outage-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const storage = await new FolderStorage(folder).open();
  const watch = await watching(database, { lookMs: 20, gapMs: 500 });
  const staging = new StagingLedger({ database, storage, owner: 'uploading', log: silentLogger });
  const keys = new IdempotencyLedger({ database, watch, log: silentLogger });
  onTestFinished(() => {
    staging.close();
    keys.close();
  });
  const key = await staging.stage('track');
  await storage.put(key, source(bytes(100)), { mediatype: 'video/mp4' });
  const claim = await claimed(database, 'worker');
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

  const nobodys = { object_key: objectKey('track'), owner: null, expires_at: new Date(0) };
  await db.database.insertInto('staging').values(nobodys).execute();
  await staging.sweep(undefined);
  const left = db.database.selectFrom('staging').select('object_key');
  expect(await left.where('object_key', '=', nobodys.object_key).execute()).toEqual([]);
});

describe('readiness', async () => {
  const app = await ownApp();
  const { database, context } = app;
  /** Each part has two seconds to answer, which a busy machine may take. */
  const isReady = () => eventually(async () => expect((await app.anonymous('/health/ready')).status).toBe(200));

  test('is answered, and leases are renewed, while requests hold every connection', async () => {
    const key = await context.staging.stage('track');
    const expire = database.updateTable('staging').set({ expires_at: new Date(0) });
    await expire.where('object_key', '=', key).execute();
    const held = await Promise.all(
      Array.from({ length: 10 + context.config.workerConcurrency * 2 }, () =>
        context.database.startTransaction().execute(),
      ),
    );
    try {
      await isReady();
      await context.staging.renew();
    } finally {
      await Promise.all(held.map((trx) => trx.rollback().execute()));
    }
    const entry = database.selectFrom('staging').select('expires_at').where('object_key', '=', key);
    expect((await entry.executeTakeFirstOrThrow()).expires_at.getTime()).toBeGreaterThan(Date.now());
  });

  test('is lost by a process in which a loop hangs', async () => {
    let runningMs = 1_000;
    context.pulse.watch({ name: 'relay', runningMs: () => runningMs });
    await isReady();
    runningMs = 600_000;
    await eventually(async () => {
      const answer = await app.anonymous('/health/ready');
      expect(answer.status).toBe(503);
      expect(await answer.json()).toMatchObject({
        ...{ status: 'unavailable', database: 'ok', worker: 'unavailable' },
      });
    });
  });
});
