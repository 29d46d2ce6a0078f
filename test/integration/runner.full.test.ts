import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ObjectStorage } from '#platform/storage/object-storage.ts';
import { bucketPlace } from '#platform/storage/s3-backend.ts';
import { StagingLedger } from '#platform/storage/staging.ts';
import { silentLogger } from '#platform/telemetry/log.ts';
import { bytes, source } from '../support/bytes.ts';
import { createRunnerBench, NOTHING, produce } from '../support/runner-bench.ts';
import { startS3, type TestS3 } from '../support/s3.ts';

const { proxy, database, prepare, awayFor } = await createRunnerBench();

describe('a result that is to be stored', () => {
  test('does not fail for the time that the storage is away', async () => {
    const store = awayFor(3);
    const { run, state } = await prepare((context) => produce(context).then(() => NOTHING), {
      store,
      // It is away for seven seconds.
      timeLimit: '5s',
    });
    expect(await run()).toBeUndefined();
    expect([await state(), store.tries()]).toEqual(['SUCCEEDED', 4]);
  });

  test.each([0, 1])('waits for a database that is away, and for a storage %d times before', async (times) => {
    let results = 0;
    const store = awayFor(times);
    const { run, state, operation } = await prepare(
      async (context) => {
        results += 1;
        await proxy.part();
        if (times > 0) {
          await proxy.join();
          setTimeout(() => void proxy.part(), 400);
        }
        setTimeout(() => void proxy.join(), 6_500);
        await produce(context);
        return NOTHING;
      },
      { store, timeLimit: '5s' },
    );
    expect(await run()).toBeUndefined();
    const found = { results, tries: store.tries(), state: await state() };
    expect(found).toEqual({ results: 1, tries: times + 1, state: 'SUCCEEDED' });
    expect(await operation()).toMatchObject({ attempts: 0, losses: 0, deferrals: 0 });
  });
});

describe('S3', () => {
  let s3: TestS3;
  let bucket: ObjectStorage;
  let ledger: StagingLedger;
  beforeAll(async () => {
    s3 = await startS3();
    Object.assign(process.env, s3.env);
    const place = { bucket: s3.env.S3_BUCKET ?? '', forcePathStyle: true };
    bucket = await bucketPlace(place).open();
    ledger = new StagingLedger({ database, storage: bucket, owner: 'test-s3', log: silentLogger });
  });
  afterAll(async () => {
    ledger?.close();
    await bucket?.close();
    await s3?.stop();
  });

  const away: Record<string, () => Promise<() => Promise<unknown>>> = {
    'is gone': async () => {
      await s3.kill();
      return () => s3.restart();
    },
    'refuses everything': async () => {
      await s3.refuse();
      return () => s3.accept();
    },
  };
  test.each(Object.entries(away))('%s for a while, before and after the work', async (_name, goAway) => {
    const key = await ledger.stage('track');
    await bucket.put(key, source(bytes(1)), { mediatype: 'video/mp4' });
    let gone: (() => Promise<unknown>) | undefined;
    let when: 'before' | 'after' = 'before';
    let results = 0;
    const { run, operation, state } = await prepare(
      async (context) => {
        if (when === 'before') gone = await goAway();
        await context.open(key);
        results += 1;
        const comesBack = await goAway();
        setTimeout(() => void comesBack(), 500);
        await produce(context);
        return NOTHING;
      },
      { store: { storage: bucket, staging: ledger } },
    );
    expect(await run()).toBeUndefined();
    const reason = 'The object storage has failed.';
    expect(await operation()).toMatchObject({ state: 'ready', attempts: 0, deferrals: 1, reason });
    await gone?.();
    when = 'after';
    expect(await run()).toBeUndefined();
    expect(await operation()).toMatchObject({ attempts: 0, deferrals: 1, losses: 0 });
    expect({ results, state: await state() }).toEqual({ results: 1, state: 'SUCCEEDED' });
  });
});
