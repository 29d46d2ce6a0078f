import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import { afterAll } from 'vitest';
import { loadConfig } from '#platform/config/config.ts';
import { folderPlace } from '#platform/storage/folder.ts';
import type { ObjectStorage } from '#platform/storage/object-storage.ts';
import { StagingLedger } from '#platform/storage/staging.ts';
import { silentLogger } from '#platform/telemetry/log.ts';
import { Runner } from '#workers/operation-runner.ts';
import type { Operation, OperationContext } from '#workers/operations/operation.ts';
import { createPartedDatabase } from './parted-database.ts';
import { storageWith } from './storage-with.ts';
import { operationsOf, processingState, startTestWorkflow } from './workflows.ts';

interface Store {
  storage: ObjectStorage;
  staging: StagingLedger;
}

/** What succeeds and has nothing to commit. */
export const NOTHING = async () => undefined;

/** Stores an object, as an operation does with its result. @returns its key */
export async function produce(context: OperationContext): Promise<string> {
  const path = join(context.folder, 'result');
  await writeFile(path, 'result');
  return (await context.store(path, 'text/plain')).objectKey;
}

/** Runners of one file, which reach their database through something that can be parted. */
export async function createRunnerBench() {
  const { db, proxy, database, close } = await createPartedDatabase();
  const folder = await mkdtemp(join(tmpdir(), 'inlet-runner-'));
  const storage = await folderPlace(folder).open();
  const staging = new StagingLedger({ database, storage, owner: 'test', log: silentLogger });
  afterAll(async () => {
    staging.close();
    await close();
    await rm(folder, { recursive: true });
  });

  const runnerOf = (operations: Operation[], store: Store = { storage, staging }) =>
    new Runner({
      ...store,
      worker: 'worker-a',
      database,
      vital: database,
      tools: { ffmpeg: '/nowhere', ffprobe: '/nowhere' },
      site: loadConfig({}).operations,
      workDir: join(folder, 'work'),
      operations: new Map(operations.map((each) => [each.name, each])),
      log: silentLogger,
    });
  const objects = async () => (await Array.fromAsync(storage.list(''))).map(({ key }) => key);

  /** A worker and a workflow of one operation, which may be tried but once. */
  async function prepare(
    run: Operation['run'],
    { store, ...options }: Parameters<typeof startTestWorkflow>[2] & { store?: Store } = {},
  ) {
    const runner = runnerOf([{ name: 'own', lane: 'light', run }], store);
    const before = await objects();
    const { eventId, workflowId } = await startTestWorkflow(db.database, ['own'], options);
    const operation = async () => (await operationsOf(db.database, workflowId))[0];
    const id = (await operation())?.id ?? 0;
    return {
      runner,
      eventId,
      id,
      operation,
      state: () => processingState(db.database, eventId),
      /** Runs it as soon as its pause is over. @returns why it failed */
      run: async () => {
        await sql`UPDATE workflow_operations SET not_before = now() WHERE id = ${id}`.execute(db.database);
        return runner.run(id, () => undefined).catch((error: Error) => error.message);
      },
      /** How many objects are stored since, rows staged, and working folders there. */
      left: async () => {
        const stored = (await objects()).filter((key) => !before.includes(key));
        const staged = await db.database.selectFrom('staging').selectAll().execute();
        return [stored.length, staged.length, (await readdir(join(folder, 'work'))).length];
      },
    };
  }

  /** The storage, which is away as often as it says. */
  const awayFor = (times: number): Store & { tries: () => number } => {
    let tries = 0;
    const come = () => {
      tries += 1;
      if (tries <= times) throw new Error('the storage refuses');
    };
    const away = storageWith(storage, {
      link: async (...args) => {
        come();
        return storage.link(...args);
      },
    });
    return { storage: away, staging, tries: () => tries };
  };

  return { db, proxy, database, folder, storage, staging, runnerOf, objects, prepare, awayFor };
}
