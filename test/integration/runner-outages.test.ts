import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Database } from '../../src/database/kysely.ts';
import { MediaFailure } from '../../src/media/failure.ts';
import { runTool } from '../../src/media/process.ts';
import { createStorage } from '../../src/storage/create.ts';
import type { ObjectStorage } from '../../src/storage/port.ts';
import { StagingLedger } from '../../src/storage/staging.ts';
import { silentLogger } from '../../src/telemetry/log.ts';
import type { Operation, OperationContext } from '../../workers/operation.ts';
import { Runner } from '../../workers/runner.ts';
import { bytes, source } from '../support/bytes.ts';
import type { TestDatabase } from '../support/database.ts';
import { createPartedDatabase, type PartedDatabase } from '../support/parted-database.ts';
import type { TestProxy } from '../support/proxy.ts';
import { startS3, type TestS3 } from '../support/s3.ts';
import { storageWithPut } from '../support/storage-with-put.ts';
import { operationsOf, processingState, startTestWorkflow } from '../support/workflows.ts';

let parted: PartedDatabase;
let db: TestDatabase;
let proxy: TestProxy;
/** The database as the worker reaches it. */
let database: Database;
let folder: string;
let storage: ObjectStorage;
let staging: StagingLedger;
beforeAll(async () => {
  parted = await createPartedDatabase();
  ({ db, proxy, database } = parted);
  folder = await mkdtemp(join(tmpdir(), 'inlet-outages-'));
  storage = await createStorage({ s3: undefined, dataDir: folder });
  staging = new StagingLedger({ database, storage, owner: 'test', log: silentLogger });
});
afterAll(async () => {
  staging?.close();
  await parted?.close();
  await rm(folder, { recursive: true });
});

/** A worker and a workflow of one operation, which does as told and may be tried but once. */
async function told(
  run: Operation['run'],
  store: { storage: ObjectStorage; staging: StagingLedger },
  options: { timeLimit?: string } = {},
) {
  const { eventId, workflowId } = await startTestWorkflow(db.database, ['told'], options);
  const operation = async () => (await operationsOf(db.database, workflowId))[0];
  const id = (await operation())?.id ?? 0;
  const runner = new Runner({
    ...store,
    worker: 'worker-a',
    database,
    tools: { ffmpeg: '/nowhere', ffprobe: '/nowhere' },
    publicUrl: 'http://localhost',
    workDir: join(folder, 'work'),
    operations: new Map([['told', { name: 'told', lane: 'light', run }]]),
    log: silentLogger,
  });
  return {
    runner,
    operation,
    state: () => processingState(db.database, eventId),
    /** Runs it as soon as its pause is over. @returns why it failed */
    run: async () => {
      await sql`UPDATE workflow_operations SET not_before = now() WHERE id = ${id}`.execute(db.database);
      return runner.run(id, () => undefined).catch((error: Error) => error.message);
    },
  };
}

async function produce(context: OperationContext): Promise<string> {
  const path = join(context.folder, 'result');
  await writeFile(path, 'result');
  return (await context.store(path, 'text/plain')).objectKey;
}

test('an operation is claimed though the database is away when its job comes', async () => {
  const { run, state } = await told(async () => async () => undefined, { storage, staging });
  await proxy.part();
  setTimeout(() => void proxy.join(), 400);
  expect(await run()).toBeUndefined();
  expect(await state()).toBe('SUCCEEDED');
});

describe('a finished operation', () => {
  test('is committed though another transaction comes between', async () => {
    let [runs, commits] = [0, 0];
    const { run, state } = await told(
      async () => {
        runs += 1;
        return async (trx) => {
          commits += 1;
          if (commits === 1) await sql`DO 'BEGIN RAISE deadlock_detected; END'`.execute(trx);
        };
      },
      { storage, staging },
    );
    expect(await run()).toBeUndefined();
    expect({ runs, commits, state: await state() }).toEqual({ runs: 1, commits: 2, state: 'SUCCEEDED' });
  });

  test('waits for a database that is away when it is to be committed, with what it has stored', async () => {
    let [runs, commits] = [0, 0];
    let key = '';
    const { run, state, operation } = await told(
      async (context) => {
        runs += 1;
        key = await produce(context);
        await proxy.part();
        setTimeout(() => void proxy.join(), 600);
        return async () => {
          commits += 1;
        };
      },
      { storage, staging },
    );
    expect(await run()).toBeUndefined();
    expect({ runs, commits, state: await state() }).toEqual({ runs: 1, commits: 1, state: 'SUCCEEDED' });
    expect(await operation()).toMatchObject({ attempts: 0, losses: 0, deferrals: 0 });
    expect(await storage.size(key)).toBe(6);
  });

  test('knows a commit again whose answer was lost, and keeps its result', async () => {
    await sql`CREATE FUNCTION linger() RETURNS trigger LANGUAGE plpgsql
      AS 'BEGIN PERFORM pg_sleep(0.6); RETURN NEW; END'`.execute(db.database);
    await sql`CREATE CONSTRAINT TRIGGER linger AFTER INSERT ON series DEFERRABLE INITIALLY DEFERRED
      FOR EACH ROW EXECUTE FUNCTION linger()`.execute(db.database);
    let runs = 0;
    let key = '';
    const { run, state } = await told(
      async (context) => {
        runs += 1;
        key = await produce(context);
        return async (trx) => {
          await trx.insertInto('series').values({ id: 'doubtful' }).execute();
          setTimeout(() => void proxy.part().then(() => proxy.join()), 200);
        };
      },
      { storage, staging },
    );
    expect(await run()).toBeUndefined();
    expect({ runs, state: await state() }).toEqual({ runs: 1, state: 'SUCCEEDED' });
    expect(await db.database.selectFrom('series').select('id').execute()).toEqual([{ id: 'doubtful' }]);
    expect(await storage.size(key)).toBe(6);
  });

  test('waits no longer than its worker lives', () =>
    endsWithItsWorker(async () => {
      await proxy.part();
      return async () => undefined;
    }));
});

/** @param runs parts the database, and waits for it */
async function endsWithItsWorker(runs: Operation['run']): Promise<void> {
  const { run, runner, operation } = await told(runs, { storage, staging });
  const ended = run();
  await pause(600);
  runner.handBack();
  expect(await ended).toMatch(/connect|terminated/i);
  await proxy.join();
  expect(await operation()).toMatchObject({ state: 'running', losses: 0 });
}

describe('a result that is to be stored', () => {
  /** The storage, which is away as often as it says. */
  const awayFor = (times: number) => {
    let left = times;
    return storageWithPut(storage, async (...args) => {
      left -= 1;
      if (left >= 0) throw new Error('the storage refuses');
      return storage.put(...args);
    });
  };

  test('does not fail for the time that the storage is away', async () => {
    const slow = { storage: awayFor(3), staging };
    const { run, state } = await told(
      async (context) => {
        await produce(context);
        return async () => undefined;
      },
      slow,
      // It is away for seven seconds.
      { timeLimit: '5s' },
    );
    expect(await run()).toBeUndefined();
    expect(await state()).toBe('SUCCEEDED');
  });

  test.each([0, 1])('waits for a database that is away, and for a storage %d times before', async (times) => {
    let results = 0;
    const { run, state, operation } = await told(
      async (context) => {
        results += 1;
        await proxy.part();
        if (times > 0) {
          await proxy.join();
          setTimeout(() => void proxy.part(), 400);
        }
        setTimeout(() => void proxy.join(), 6_500);
        await produce(context);
        return async () => undefined;
      },
      { storage: awayFor(times), staging },
      { timeLimit: '5s' },
    );
    expect(await run()).toBeUndefined();
    expect({ results, state: await state() }).toEqual({ results: 1, state: 'SUCCEEDED' });
    expect(await operation()).toMatchObject({ attempts: 0, losses: 0, deferrals: 0 });
  });

  test('waits for no database longer than its worker lives', () =>
    endsWithItsWorker(async (context) => {
      await proxy.part();
      await produce(context);
      return async () => undefined;
    }));

  test('is waited for, and what comes next has what was left of the time', async () => {
    const { run, state } = await told(
      async (context) => {
        await produce(context);
        await pause(20_000, undefined, { signal: context.signal });
        return async () => undefined;
      },
      { storage: awayFor(1), staging },
      { timeLimit: '1s' },
    );
    expect(await run()).toBe('It took longer than the 1 second allowed.');
    expect(await state()).toBe('FAILED');
  });
});

describe('faults of the service itself use up no attempt', () => {
  const faults: Record<string, { run: Operation['run']; reason: string }> = {
    'a disk is full': {
      run: async () => writeFile('/dev/full', 'x').then(() => async () => undefined),
      reason: 'There is no room left on a disk of the service.',
    },
    'the working folder is gone': {
      run: async ({ folder: own }) => {
        await rm(own, { recursive: true });
        throw new MediaFailure('The worker could not open its files.', { permanent: false, attempts: 1 });
      },
      reason: 'The working folder of the operation was removed.',
    },
    'ffmpeg cannot be started': {
      run: ({ tools }) =>
        runTool(tools.ffmpeg, [], { timeLimitMs: 60_000 }).then(() => async () => undefined),
      reason: 'nowhere could not be started.',
    },
    'the system cannot run ffmpeg': {
      run: () =>
        runTool('/bin/sh', ['-c', 'exec /nowhere/ffmpeg'], { timeLimitMs: 60_000 }).then(
          () => async () => undefined,
        ),
      reason: 'sh could not be started.',
    },
    'the database is away': {
      run: async ({ database }) => {
        await sql`SELECT pg_terminate_backend(pg_backend_pid())`.execute(database);
        return async () => undefined;
      },
      reason: 'The database does not answer.',
    },
  };
  test.each(Object.entries(faults))('%s', async (_name, { run: fault, reason }) => {
    let well = false;
    const { run, operation, state } = await told(
      (context) => (well ? Promise.resolve(async () => undefined) : fault(context)),
      { storage, staging },
    );
    for (let deferrals = 1; deferrals <= 3; deferrals += 1) {
      expect(await run()).toBeUndefined();
      expect(await operation()).toMatchObject({ state: 'ready', attempts: 0, deferrals, reason });
      expect(await state()).toBe('RUNNING');
    }
    well = true;
    expect(await run()).toBeUndefined();
    expect(await state()).toBe('SUCCEEDED');
  });

  test('the folder of the objects is away, as a disk is that is not mounted', async () => {
    const key = await staging.stage('track');
    await storage.put(key, source(bytes(1)), { mediatype: 'video/mp4' });
    const { run, operation, state } = await told(
      async ({ open }) => {
        await open(key);
        return async () => undefined;
      },
      { storage, staging },
    );
    await rename(join(folder, 'objects'), join(folder, 'elsewhere'));
    await run();
    await rename(join(folder, 'elsewhere'), join(folder, 'objects'));
    expect(await operation()).toMatchObject({ state: 'ready', attempts: 0, deferrals: 1 });
    expect(await run()).toBeUndefined();
    expect(await state()).toBe('SUCCEEDED');
  });

  test('an object that is not there is none of them', async () => {
    const { run, state } = await told(
      async ({ open }) => {
        await open('track/00/00000000-0000-4000-8000-000000000000');
        return async () => undefined;
      },
      { storage, staging },
    );
    expect(await run()).toContain('given up after 1 attempts');
    expect(await state()).toBe('FAILED');
  });

  describe('S3', () => {
    let s3: TestS3;
    let bucket: ObjectStorage;
    let ledger: StagingLedger;
    beforeAll(async () => {
      s3 = await startS3();
      Object.assign(process.env, s3.env);
      bucket = await createStorage({
        s3: { bucket: s3.env.S3_BUCKET ?? '', forcePathStyle: true },
        dataDir: '',
      });
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
      const { run, operation, state } = await told(
        async (context) => {
          if (when === 'before') gone = await goAway();
          await context.open(key);
          results += 1;
          const comesBack = await goAway();
          setTimeout(() => void comesBack(), 500);
          await produce(context);
          return async () => undefined;
        },
        { storage: bucket, staging: ledger },
      );
      expect(await run()).toBeUndefined();
      const reason = 'The object storage does not do its work.';
      expect(await operation()).toMatchObject({ state: 'ready', attempts: 0, deferrals: 1, reason });
      await gone?.();
      when = 'after';
      expect(await run()).toBeUndefined();
      expect(await operation()).toMatchObject({ attempts: 0, deferrals: 1, losses: 0 });
      expect({ results, state: await state() }).toEqual({ results: 1, state: 'SUCCEEDED' });
    });
  });
});
