import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Database } from '../../src/database/kysely.ts';
import { runProgram, runTool } from '../../src/media/process.ts';
import { FolderStorage } from '../../src/storage/folder.ts';
import type { ObjectStorage } from '../../src/storage/port.ts';
import { StagingLedger } from '../../src/storage/staging.ts';
import { silentLogger } from '../../src/telemetry/log.ts';
import { metrics } from '../../src/telemetry/metrics.ts';
import type { Operation, OperationContext } from '../../workers/operation.ts';
import { Runner } from '../../workers/runner.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { eventually } from '../support/eventually.ts';
import { samplesOf } from '../support/exposition.ts';
import { processesWith } from '../support/media.ts';
import { operationsOf, processingState, startTestWorkflow } from '../support/workflows.ts';

let db: TestDatabase;
let database: Database;
let folder: string;
let storage: ObjectStorage;
let staging: StagingLedger;

beforeAll(async () => {
  db = await createTestDatabase();
  database = db.database;
  folder = await mkdtemp(join(tmpdir(), 'inlet-runner-'));
  storage = await new FolderStorage(join(folder, 'objects')).open();
  staging = new StagingLedger({ database, storage, owner: 'test', log: silentLogger });
});
afterAll(async () => {
  staging.close();
  await db.close();
  await rm(folder, { recursive: true });
});

function startRunner(operations: ReadonlyMap<string, Operation>): Runner {
  return new Runner({
    worker: 'worker-a',
    database,
    storage,
    staging,
    tools: { ffmpeg: '/nowhere', ffprobe: '/nowhere' },
    publicUrl: 'http://localhost',
    workDir: join(folder, 'work'),
    operations,
    log: silentLogger,
  });
}

/** Starts a workflow of one operation that does as told, and runs it. */
async function runOnce(run: Operation['run'], options: Parameters<typeof startTestWorkflow>[2] = {}) {
  const operation: Operation = { name: 'told', lane: 'light', run };
  const runner = startRunner(new Map([['told', operation]]));
  const { eventId, workflowId } = await startTestWorkflow(database, ['told'], options);
  const [row] = await operationsOf(database, workflowId);
  if (!row) throw new Error('The workflow has no operation.');
  const outcome = runner.run(row.id, () => undefined);
  const ended = outcome.then(
    () => undefined,
    (error: Error) => error.message,
  );
  return {
    runner,
    eventId,
    operationId: row.id,
    ended,
    operation: async () => (await operationsOf(database, workflowId))[0],
    state: () => processingState(database, eventId),
  };
}

/** Stores an object, as an operation does with its result. */
async function produce(context: OperationContext): Promise<string> {
  const path = join(context.folder, 'result');
  await writeFile(path, 'result');
  return (await context.store(path, 'text/plain')).objectKey;
}

const objects = async () => {
  const keys: string[] = [];
  for await (const { key } of storage.list('')) keys.push(key);
  return keys;
};
const staged = () => database.selectFrom('staging').selectAll().execute();
const workFolders = () => readdir(join(folder, 'work'));

function whenAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const end = () => reject(new Error('killed'));
    if (signal.aborted) end();
    else signal.addEventListener('abort', end);
  });
}

test('a result is committed with its objects, and the working folder goes', async () => {
  const { ended, state, eventId } = await runOnce(async (context) => {
    const key = await produce(context);
    return async (trx) =>
      void (await trx
        .insertInto('tracks')
        .values({
          id: crypto.randomUUID(),
          event_id: context.eventId,
          position: 0,
          flavor: 'a/b',
          filename: 'x',
          mediatype: 'text/plain',
          object_key: key,
          size: 6,
          sha256: '0'.repeat(64),
        })
        .execute());
  });
  expect(await ended).toBeUndefined();
  expect(await state()).toBe('SUCCEEDED');
  expect([await objects(), await staged(), await workFolders()]).toEqual([[expect.any(String)], [], []]);
  const track = await database
    .selectFrom('tracks')
    .select('object_key')
    .where('event_id', '=', eventId)
    .executeTakeFirst();
  await storage.remove([track?.object_key ?? '']);
});

test('a permanent failure fails the workflow at once and leaves no object', async () => {
  const { ended, state, operation } = await runOnce(
    async (context) => {
      await produce(context);
      throw Object.assign(new Error('It is no recording.'), { permanent: true, log: 'the tail' });
    },
    { retries: 5 },
  );
  expect(await ended).toBe('It is no recording.');
  expect(await state()).toBe('FAILED');
  expect(await operation()).toMatchObject({
    state: 'failed',
    reason: 'It is no recording.',
    log: 'the tail',
  });
  expect([await objects(), await staged(), await workFolders()]).toEqual([[], [], []]);
});

test('a fault that may pass is tried again after a pause, until the attempts are used up', async () => {
  const { runner, ended, state, operation, operationId } = await runOnce(
    async () => {
      throw new Error('The storage does not answer.');
    },
    { retries: 1 },
  );
  await ended;
  expect(await operation()).toMatchObject({
    state: 'ready',
    attempts: 1,
    reason: 'The storage does not answer.',
  });
  expect(await state()).toBe('RUNNING');
  await runner.run(operationId, () => undefined);
  expect(await operation()).toMatchObject({ state: 'ready', attempts: 1 });
  await sql`UPDATE workflow_operations SET not_before = now() WHERE id = ${operationId}`.execute(database);
  await expect(runner.run(operationId, () => undefined)).rejects.toThrow('given up after 2 attempts');
  expect(await state()).toBe('FAILED');
});

test('an operation that exceeds its time limit is ended and fails', async () => {
  const { ended, state } = await runOnce(async ({ signal }) => whenAborted(signal), { timeLimit: '1s' });
  expect(await ended).toBe('It took longer than the 1 second allowed.');
  expect(await state()).toBe('FAILED');
});

test("a site's program that exceeds the time limit is ended with all that it has started", async () => {
  const script = ['-c', "trap '' TERM; /bin/sleep 86396 & while :; do wait; done"];
  const { ended, state } = await runOnce(
    async ({ signal, folder: cwd }) => {
      await runProgram('/bin/sh', script, { signal, cwd, env: {}, timeLimitMs: Number.POSITIVE_INFINITY });
      return async () => undefined;
    },
    { timeLimit: '1s' },
  );
  expect(await ended).toBe('It took longer than the 1 second allowed.');
  expect(await state()).toBe('FAILED');
  await eventually(() => expect(processesWith('sleep\0' + '86396')).toEqual([]));
});

test('a time limit may be weeks', async () => {
  const soon = async ({ signal }: OperationContext) => {
    await sleep(50, undefined, { signal });
    return async () => undefined;
  };
  const { ended, state } = await runOnce(soon, { timeLimit: '600h' });
  expect(await ended).toBeUndefined();
  expect(await state()).toBe('SUCCEEDED');
});

test('a stopping worker hands its operation back without counting an attempt', async () => {
  const { runner, ended, operation, state } = await runOnce(async (context) => {
    await produce(context);
    return whenAborted(context.signal);
  });
  await eventually(async () => expect(await objects()).toHaveLength(1));
  runner.handBack();
  expect(await ended).toBeUndefined();
  expect(await operation()).toMatchObject({ state: 'ready', attempts: 0, losses: 0 });
  expect(await state()).toBe('RUNNING');
  expect([await objects(), await staged(), await workFolders()]).toEqual([[], [], []]);
});

describe('a tool that somebody else asks to end', () => {
  const tool = (script: string) => async () => {
    await runTool('/bin/sh', ['-c', script], { timeLimitMs: 60_000 });
    return async () => undefined;
  };
  const asked = ['kill -TERM $$', 'exit 255'];

  test.each(asked)('with its worker costs no attempt: %s', async (script) => {
    for (const when of [0, 200]) {
      const { runner, ended, operation, state } = await runOnce(tool(script));
      setTimeout(() => runner.willEnd(), when);
      expect(await ended).toBeUndefined();
      expect(await operation()).toMatchObject({ state: 'ready', attempts: 0, losses: 0, deferrals: 0 });
      expect(await state()).toBe('RUNNING');
    }
  });

  test.each(asked)('while its worker goes on costs one: %s', async (script) => {
    const { ended, operation } = await runOnce(tool(script), { retries: 1 });
    await ended;
    expect(await operation()).toMatchObject({ state: 'ready', attempts: 1 });
  });

  test('is told from one that fails while its worker ends', async () => {
    const { runner, ended, state } = await runOnce(tool('exit 1'));
    runner.willEnd();
    expect(await ended).toMatch(/cannot be read/);
    expect(await state()).toBe('FAILED');
  });
});

test('a worker whose claim was taken ends its work and drops the result', async () => {
  const { ended, operation, operationId } = await runOnce(async (context) => {
    await produce(context);
    return whenAborted(context.signal);
  });
  await eventually(async () => expect(await objects()).toHaveLength(1));
  await sql`UPDATE workflow_operations SET fencing_token = fencing_token + 1 WHERE id = ${operationId}`.execute(
    database,
  );
  expect(await ended).toBeUndefined();
  expect((await operation())?.state).toBe('running');
  expect([await objects(), await staged(), await workFolders()]).toEqual([[], [], []]);
});

test('deleting the event in the middle of an operation leaves no object', async () => {
  const deleted = Promise.withResolvers<void>();
  const { ended, eventId } = await runOnce(async (context) => {
    await produce(context);
    await deleted.promise;
    return async () => undefined;
  });
  await eventually(async () => expect(await objects()).toHaveLength(1));
  await database.deleteFrom('events').where('id', '=', eventId).execute();
  deleted.resolve();
  expect(await ended).toBeUndefined();
  expect([await objects(), await staged()]).toEqual([[], []]);
});

test('what a worker may do is counted from zero, so that the first of it is seen as well', async () => {
  const operation: Operation = { name: 'new', lane: 'light', run: async () => async () => undefined };
  startRunner(new Map([['new', operation]]));
  const samples = samplesOf(await metrics.metrics());
  const counts = ['inlet_operation_duration_seconds_count', 'inlet_operation_deferrals_total'];
  expect(
    samples.filter(({ name, labels }) => counts.includes(name) && labels.operation === 'new'),
  ).toMatchObject([
    { labels: { outcome: 'succeeded' }, value: 0 },
    { labels: {}, value: 0 },
  ]);
});

test('an operation nobody knows fails with its name', async () => {
  const runner = startRunner(new Map());
  const { workflowId } = await startTestWorkflow(database, ['unknown']);
  const [row] = await operationsOf(database, workflowId);
  await expect(runner.run(row?.id ?? 0, () => undefined)).rejects.toThrow(
    'No operation is called "unknown".',
  );
});
