import { rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import { MediaFailure } from '#platform/media/tools/media-failure.ts';
import { runProgram, runTool } from '#platform/media/tools/run-tool.ts';
import { metrics } from '#platform/telemetry/metrics.ts';
import type { Operation } from '#workers/operations/operation.ts';
import { bytes, source } from '../support/bytes.ts';
import { eventually } from '../support/eventually.ts';
import { samplesOf } from '../support/exposition.ts';
import { processesWith } from '../support/media.ts';
import { createRunnerBench, NOTHING, produce } from '../support/runner-bench.ts';
import { operationsOf, startTestWorkflow } from '../support/workflows.ts';

const bench = await createRunnerBench();
const { db, proxy, storage, prepare } = bench;
/** What an operation leaves that has no result: objects, staged rows, working folders. */
const CLEAN = [0, 0, 0];
const UNCOUNTED = { attempts: 0, losses: 0, deferrals: 0 };

function whenAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const end = () => reject(new Error('killed'));
    if (signal.aborted) end();
    else signal.addEventListener('abort', end);
  });
}

/** Begins an operation that stores an object and then works until it is aborted. */
async function beginEndless() {
  const prepared = await prepare(async (context) => {
    await produce(context);
    return whenAborted(context.signal);
  });
  const ended = prepared.run();
  await eventually(async () => expect((await prepared.left())[0]).toBe(1));
  return { ...prepared, ended };
}

describe('an operation', () => {
  test('that succeeds is committed with its objects, and the working folder goes', async () => {
    const { run, state, left, eventId } = await prepare(async (context) => {
      const key = await produce(context);
      return async (trx) => {
        const file = {
          flavor: 'a/b',
          filename: 'x',
          mediatype: 'text/plain',
          sha256: '0'.repeat(64),
          size: 6,
        };
        const track = { id: crypto.randomUUID(), event_id: context.eventId, position: 0, object_key: key };
        await trx
          .insertInto('tracks')
          .values({ ...track, ...file })
          .execute();
      };
    });
    expect(await run()).toBeUndefined();
    expect(await state()).toBe('SUCCEEDED');
    expect(await left()).toEqual([1, 0, 0]);
    const track = db.database.selectFrom('tracks').select('object_key').where('event_id', '=', eventId);
    const { object_key } = await track.executeTakeFirstOrThrow();
    expect(await storage.size(object_key)).toBe(6);
  });

  test('that fails for good fails the workflow at once and leaves no object', async () => {
    const failure = { permanent: true, log: 'the tail' };
    const { run, state, operation, left } = await prepare(
      async (context) => {
        await produce(context);
        throw Object.assign(new Error('It is no recording.'), failure);
      },
      { retries: 5 },
    );
    expect(await run()).toBe('It is no recording.');
    expect(await state()).toBe('FAILED');
    const reason = 'It is no recording.';
    expect(await operation()).toMatchObject({ state: 'failed', reason, log: 'the tail' });
    expect(await left()).toEqual(CLEAN);
  });

  test('whose fault may pass is tried again after a pause, until the attempts are used up', async () => {
    const reason = 'The storage does not answer.';
    const { runner, run, state, operation, id } = await prepare(
      async () => {
        throw new Error(reason);
      },
      { retries: 1 },
    );
    await run();
    expect(await operation()).toMatchObject({ state: 'ready', attempts: 1, reason });
    expect(await state()).toBe('RUNNING');
    await runner.run(id, () => undefined);
    expect(await operation()).toMatchObject({ state: 'ready', attempts: 1 });
    expect(await run()).toContain('given up after 2 attempts');
    expect(await state()).toBe('FAILED');
  });

  test('that exceeds its time limit is ended and fails, with all that its program has started', async () => {
    const script = ['-c', "trap '' TERM; /bin/sleep 86396 & while :; do wait; done"];
    const { run, state } = await prepare(
      async ({ signal, folder: cwd }) => {
        await runProgram('/bin/sh', script, { signal, cwd, env: {}, timeLimitMs: Number.POSITIVE_INFINITY });
        return NOTHING;
      },
      { timeLimit: '1s' },
    );
    expect(await run()).toBe('It took longer than the 1 second allowed.');
    expect(await state()).toBe('FAILED');
    await eventually(() => expect(processesWith('sleep\0' + '86396')).toEqual([]));
  });

  test('of a stopping worker is handed back without counting an attempt', async () => {
    const { runner, ended, operation, state, left } = await beginEndless();
    runner.handBack();
    expect(await ended).toBeUndefined();
    expect(await operation()).toMatchObject({ state: 'ready', ...UNCOUNTED });
    expect(await state()).toBe('RUNNING');
    expect(await left()).toEqual(CLEAN);
  });

  test('whose claim was taken ends, and its result is dropped', async () => {
    const { runner, ended, operation, id, left } = await beginEndless();
    await sql`UPDATE workflow_operations SET fencing_token = fencing_token + 1 WHERE id = ${id}`.execute(db.database);
    runner.checkLease();
    expect(await ended).toBeUndefined();
    expect((await operation())?.state).toBe('running');
    expect(await left()).toEqual(CLEAN);
  });

  test('whose event is deleted leaves no object', async () => {
    const deleted = Promise.withResolvers<void>();
    const { run, eventId, left } = await prepare(async (context) => {
      await produce(context);
      await deleted.promise;
      return NOTHING;
    });
    const ended = run();
    await eventually(async () => expect((await left())[0]).toBe(1));
    await db.database.deleteFrom('events').where('id', '=', eventId).execute();
    deleted.resolve();
    expect(await ended).toBeUndefined();
    expect(await left()).toEqual(CLEAN);
  });

  test('nobody knows fails with its name', async () => {
    const { workflowId } = await startTestWorkflow(db.database, ['unknown']);
    const [row] = await operationsOf(db.database, workflowId);
    await expect(bench.runnerOf([]).run(row?.id ?? 0, () => undefined)).rejects.toThrow('Unknown operation "unknown".');
  });

  test('is counted from zero, so that the first of it is seen as well', async () => {
    bench.runnerOf([{ name: 'new', lane: 'light', run: async () => NOTHING }]);
    const counts = ['inlet_operation_duration_seconds_count', 'inlet_operation_deferrals_total'];
    const samples = samplesOf(await metrics.metrics()).filter(({ labels }) => labels.operation === 'new');
    expect(samples.filter(({ name }) => counts.includes(name))).toMatchObject([
      { labels: { outcome: 'succeeded' }, value: 0 },
      { labels: {}, value: 0 },
    ]);
  });
});

describe('a tool that somebody else asks to end', () => {
  const tool = (script: string) => async () => {
    await runTool('/bin/sh', ['-c', script], { timeLimitMs: 60_000 });
    return NOTHING;
  };
  const asked = ['kill -TERM $$', 'exit 255'];

  test.each(asked)('with its worker costs no attempt: %s', async (script) => {
    for (const when of [0, 200]) {
      const { runner, run, operation, state } = await prepare(tool(script));
      const ended = run();
      setTimeout(() => runner.announceShutdown(), when);
      expect(await ended).toBeUndefined();
      expect(await operation()).toMatchObject({ state: 'ready', ...UNCOUNTED });
      expect(await state()).toBe('RUNNING');
    }
  });

  test.each(asked)('while its worker goes on costs one: %s', async (script) => {
    const { run, operation } = await prepare(tool(script), { retries: 1 });
    await run();
    expect(await operation()).toMatchObject({ state: 'ready', attempts: 1 });
  });

  test('is told from one that fails while its worker ends', async () => {
    const { runner, run, state } = await prepare(tool('exit 1'));
    runner.announceShutdown();
    expect(await run()).toMatch(/cannot be read/);
    expect(await state()).toBe('FAILED');
  });
});

describe('while the database is away', () => {
  test('an operation is claimed nevertheless when its job comes', async () => {
    const { runner, id, state } = await prepare(async () => NOTHING);
    await proxy.part();
    const ended = runner.run(id, () => undefined);
    await pause(100);
    await proxy.join();
    expect(await ended).toBeUndefined();
    expect(await state()).toBe('SUCCEEDED');
  });

  test('a finished operation waits to be committed, with what it has stored', async () => {
    let [runs, commits] = [0, 0];
    let key = '';
    const { run, state, operation } = await prepare(async (context) => {
      runs += 1;
      key = await produce(context);
      await proxy.part();
      setTimeout(() => void proxy.join(), 300);
      return async () => {
        commits += 1;
      };
    });
    expect(await run()).toBeUndefined();
    expect({ runs, commits, state: await state() }).toEqual({ runs: 1, commits: 1, state: 'SUCCEEDED' });
    expect(await operation()).toMatchObject(UNCOUNTED);
    expect(await storage.size(key)).toBe(6);
  });

  test('a commit is known again whose answer was lost, and its result is kept', async () => {
    await sql`CREATE FUNCTION linger() RETURNS trigger LANGUAGE plpgsql
      AS 'BEGIN PERFORM pg_sleep(0.6); RETURN NEW; END'`.execute(db.database);
    await sql`CREATE CONSTRAINT TRIGGER linger AFTER INSERT ON series DEFERRABLE INITIALLY DEFERRED
      FOR EACH ROW EXECUTE FUNCTION linger()`.execute(db.database);
    let runs = 0;
    let key = '';
    const { run, state } = await prepare(async (context) => {
      runs += 1;
      key = await produce(context);
      return async (trx) => {
        await trx.insertInto('series').values({ id: 'doubtful' }).execute();
        setTimeout(() => void proxy.part().then(() => proxy.join()), 200);
      };
    });
    expect(await run()).toBeUndefined();
    expect({ runs, state: await state() }).toEqual({ runs: 1, state: 'SUCCEEDED' });
    expect(await db.database.selectFrom('series').select('id').execute()).toEqual([{ id: 'doubtful' }]);
    expect(await storage.size(key)).toBe(6);
  });

  test.each<[string, Operation['run']]>([
    ['what is to be committed', async () => NOTHING],
    ['a result that is to be stored', async (context) => produce(context).then(() => NOTHING)],
  ])('%s waits no longer than its worker lives', async (_name, work) => {
    const parted = Promise.withResolvers<void>();
    const { run, runner, operation } = await prepare(async (context) => {
      await proxy.part();
      parted.resolve();
      return work(context);
    });
    const ended = run();
    await parted.promise;
    await pause(300);
    runner.handBack();
    expect(await ended).toMatch(/connect|terminated/i);
    await proxy.join();
    expect(await operation()).toMatchObject({ state: 'running', losses: 0 });
  });
});

test('a finished operation is committed though another transaction comes between', async () => {
  let [runs, commits] = [0, 0];
  const { run, state } = await prepare(async () => {
    runs += 1;
    return async (trx) => {
      commits += 1;
      if (commits === 1) await sql`DO 'BEGIN RAISE deadlock_detected; END'`.execute(trx);
    };
  });
  expect(await run()).toBeUndefined();
  expect({ runs, commits, state: await state() }).toEqual({ runs: 1, commits: 2, state: 'SUCCEEDED' });
});

test('a result waits for a storage that is away, and what comes next has what was left of the time', async () => {
  const store = bench.awayFor(1);
  const { run, state } = await prepare(
    async (context) => {
      await produce(context);
      await pause(20_000, undefined, { signal: context.signal });
      return NOTHING;
    },
    { store, timeLimit: '1s' },
  );
  expect(await run()).toBe('It took longer than the 1 second allowed.');
  expect([await state(), store.tries()]).toEqual(['FAILED', 2]);
});

describe('faults of the service itself use up no attempt', () => {
  const limits = { timeLimitMs: 60_000 };
  test.each<[string, Operation['run'], string]>([
    ['a disk is full', () => writeFile('/dev/full', 'x').then(() => NOTHING), 'A disk of the service is full.'],
    [
      'the working folder is gone',
      async ({ folder }) => {
        await rm(folder, { recursive: true });
        throw new MediaFailure('The worker could not open its files.', { permanent: false, attempts: 1 });
      },
      'The working folder of the operation was removed.',
    ],
    [
      'ffmpeg cannot be started',
      ({ tools }) => runTool(tools.ffmpeg, [], limits).then(() => NOTHING),
      'nowhere could not be started.',
    ],
    [
      'the system cannot run ffmpeg',
      () => runTool('/bin/sh', ['-c', 'exec /nowhere/ffmpeg'], limits).then(() => NOTHING),
      'sh could not be started.',
    ],
    [
      'the database is away',
      async ({ database }) => {
        await sql`SELECT pg_terminate_backend(pg_backend_pid())`.execute(database);
        return NOTHING;
      },
      'The database does not answer.',
    ],
  ])('%s', async (_name, fault, reason) => {
    let well = false;
    const { run, operation, state } = await prepare(async (context) => (well ? NOTHING : fault(context)));
    for (let deferrals = 1; deferrals <= 2; deferrals += 1) {
      expect(await run()).toBeUndefined();
      expect(await operation()).toMatchObject({ state: 'ready', attempts: 0, deferrals, reason });
      expect(await state()).toBe('RUNNING');
    }
    well = true;
    expect(await run()).toBeUndefined();
    expect(await state()).toBe('SUCCEEDED');
  });

  test('the folder of the objects is away, as a disk is that is not mounted', async () => {
    const key = await bench.staging.stage('track');
    await storage.put(key, source(bytes(1)), { mediatype: 'video/mp4' });
    const { run, operation, state } = await prepare(({ open }) => open(key).then(() => NOTHING));
    const [objects, elsewhere] = ['objects', 'elsewhere'].map((name) => join(bench.folder, name));
    await rename(objects ?? '', elsewhere ?? '');
    await run();
    await rename(elsewhere ?? '', objects ?? '');
    expect(await operation()).toMatchObject({ state: 'ready', attempts: 0, deferrals: 1 });
    expect(await run()).toBeUndefined();
    expect(await state()).toBe('SUCCEEDED');
  });

  test('an object that is not there is none of them', async () => {
    const key = 'track/00/00000000-0000-4000-8000-000000000000';
    const { run, state } = await prepare(({ open }) => open(key).then(() => NOTHING));
    expect(await run()).toContain('given up after 1 attempts');
    expect(await state()).toBe('FAILED');
  });
});
