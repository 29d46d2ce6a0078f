import { createHash, randomUUID } from 'node:crypto';
import { mkdtemp, readdir, readFile, utimes, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { LANES } from '#platform/queue/work-queue.ts';
import { FolderStorage } from '#platform/storage/folder.ts';
import { objectKey } from '#platform/storage/object-keys.ts';
import { ObjectNotFound, type ObjectStorage } from '#platform/storage/object-storage.ts';
import { StagingLedger } from '#platform/storage/staging.ts';
import { silentLogger } from '#platform/telemetry/log.ts';
import { claimOperation, endClaim } from '#processing/operation-claims.ts';
import { assignLanes, takeDeliveries } from '#processing/outbox.ts';
import { databaseForThisFile } from '#test/support/database.ts';
import { folderForThisFile } from '#test/support/folders.ts';
import { storageWith } from '#test/support/storage-with.ts';
import { VIDEO } from '#test/support/streams.ts';
import { AT_ONCE, operationsOf, startTestWorkflow } from '#test/support/workflows.ts';
import { createLaneChoice, slotsOf } from './lane-choice.ts';
import { operations } from './operations/all-operations.ts';
import {
  createWorkFolder,
  removeAbandonedFolders,
  touchWorkFolder,
  Workspace,
  type WorkspaceOptions,
} from './workspace.ts';

const CONTENT = Buffer.alloc(1_000_000, 'recording');

const db = databaseForThisFile();
const folder = await folderForThisFile();

describe('a workspace', () => {
  let storage: FolderStorage;
  let staging: StagingLedger;
  let path: string;
  let controller: AbortController;
  beforeAll(async () => {
    const { database } = db;
    storage = await new FolderStorage(join(folder, 'objects')).open();
    staging = new StagingLedger({ database, storage, owner: randomUUID(), log: silentLogger });
    path = join(folder, 'result');
    await writeFile(path, CONTENT);
  });
  afterAll(() => staging.close());
  beforeEach(() => {
    controller = new AbortController();
  });

  /** The same objects as in a bucket: no tool can read them in place. */
  const remote = (changes: Partial<ObjectStorage> = {}) =>
    storageWith(storage, { localPath: () => undefined, link: async () => false, ...changes });

  const ledger = async () => {
    const rows = await db.database.selectFrom('staging').select('object_key').execute();
    return rows.map(({ object_key }) => object_key);
  };

  async function workspaceOn(objects: ObjectStorage, more: Pick<WorkspaceOptions, 'onOutage'> = {}) {
    const own = await mkdtemp(join(folder, 'own-'));
    const { signal } = controller;
    const workspace = new Workspace({
      folder: own,
      storage: objects,
      staging,
      signal,
      log: silentLogger,
      ...more,
    });
    onTestFinished(() => workspace.close());
    const before = await ledger();
    const stagedKeys = async () => (await ledger()).filter((key) => !before.includes(key));
    const { store, open, locate } = workspace;
    return { own, workspace, store, open, locate, stagedKeys };
  }

  const refusing: ObjectStorage['put'] = () => Promise.reject(new Error('the storage refuses'));
  const faultOf = (message: string) => ({ name: 'StorageFault', cause: new Error(message) });

  describe('store', () => {
    test('stores a staged object and gives the size and checksum of its bytes', async () => {
      const { store, stagedKeys } = await workspaceOn(storage);
      const { objectKey: key, size, sha256 } = await store(path, 'video/mp4');
      expect(size).toBe(CONTENT.length);
      expect(sha256).toBe(createHash('sha256').update(CONTENT).digest('hex'));
      expect(await stagedKeys()).toEqual([key]);
      expect(key).toMatch(/^element\//);
      expect(CONTENT.equals(await readFile(storage.localPath(key)))).toBe(true);
    });

    test('stores an empty file', async () => {
      const empty = join(folder, 'empty');
      await writeFile(empty, '');
      const { store } = await workspaceOn(storage);
      expect(await store(empty, 'text/plain')).toMatchObject({ size: 0 });
    });

    test('keeps nothing of an object whose storing failed', async () => {
      const { store, stagedKeys } = await workspaceOn(remote({ put: refusing }));
      await expect(store(path, 'video/mp4')).rejects.toMatchObject(faultOf('the storage refuses'));
      expect(await stagedKeys()).toEqual([]);
    });

    test('waits with a result for a storage that is away, and reports each pause', async () => {
      let away = true;
      const put: ObjectStorage['put'] = (...args) => (away ? refusing(...args) : storage.put(...args));
      const pauses: number[] = [];
      const onOutage = (_error: unknown, againInMs: number) => {
        pauses.push(againInMs);
        away = false;
      };
      const { store, stagedKeys } = await workspaceOn(remote({ put }), { onOutage });
      const { objectKey: key, size } = await store(path, 'video/mp4');
      expect([size, await stagedKeys(), pauses.length]).toEqual([CONTENT.length, [key], 1]);
    });

    test('stages nothing for a file that does not exist, or when aborted', async () => {
      const { store, stagedKeys } = await workspaceOn(storage);
      await expect(store(join(folder, 'missing'), 'video/mp4')).rejects.toMatchObject({ code: 'ENOENT' });
      controller.abort(new Error('stop'));
      await expect(store(path, 'video/mp4')).rejects.toThrow('stop');
      expect(await stagedKeys()).toEqual([]);
    });
  });

  describe('open', () => {
    let key: string;
    beforeEach(async () => {
      key = objectKey('track');
      await storage.put(key, Readable.from([CONTENT]), { mediatype: 'video/mp4' });
    });

    test('gives the place of an object that can be read where it is', async () => {
      const { open } = await workspaceOn(storage);
      expect(await open(key)).toBe(storage.localPath(key));
    });

    test('downloads any other into its folder, once', async () => {
      let downloads = 0;
      const get: ObjectStorage['get'] = (...args) => {
        downloads += 1;
        return storage.get(...args);
      };
      const { open, own } = await workspaceOn(remote({ get }));
      const [first, second] = await Promise.all([open(key), open(key)]);
      expect([dirname(first), second, downloads]).toEqual([own, first, 1]);
      expect(CONTENT.equals(await readFile(first))).toBe(true);
    });

    test('leaves nothing of a download that broke off, and tries again when asked again', async () => {
      let broken = true;
      const get: ObjectStorage['get'] = async (...args) => {
        if (!broken) return storage.get(...args);
        broken = false;
        return new ReadableStream({
          start(stream) {
            stream.enqueue(CONTENT.subarray(0, 1000));
            stream.error(new Error('the connection broke'));
          },
        });
      };
      const { open } = await workspaceOn(remote({ get }));
      await expect(open(key)).rejects.toMatchObject(faultOf('the connection broke'));
      expect(CONTENT.equals(await readFile(await open(key)))).toBe(true);
    });

    test('fails for an object that is gone', async () => {
      const { open } = await workspaceOn(remote());
      await expect(open(objectKey('track'))).rejects.toThrow('No object is stored');
    });
  });

  describe('locate', () => {
    let key: string;
    beforeEach(async () => {
      key = objectKey('track');
      await storage.put(key, Readable.from([CONTENT]), { mediatype: 'video/mp4' });
    });

    test('gives the place of an object that can be read where it is, and of one that was downloaded', async () => {
      expect(await (await workspaceOn(storage)).locate(key)).toBe(storage.localPath(key));
      const { open, locate } = await workspaceOn(remote());
      expect(await locate(key)).toMatch(/^http:/);
      expect(await locate(key)).not.toBe(await open(key));
      expect(await locate(key)).toBe(await open(key));
    });

    test('gives an address of any other, which only its workspace serves', async () => {
      const { workspace, locate, own } = await workspaceOn(remote());
      const address = await locate(key);
      expect(CONTENT.equals(Buffer.from(await (await fetch(address)).arrayBuffer()))).toBe(true);
      expect([await readdir(own), workspace.bytesRead]).toEqual([[], CONTENT.length]);
      await workspace.close();
      await expect(fetch(address)).rejects.toThrow();
    });

    test('fails for an object that is gone', async () => {
      const { locate } = await workspaceOn(remote());
      await expect(locate(objectKey('track'))).rejects.toThrow('No object is stored');
    });

    test('ends the operation when the storage fails, whatever a tool makes of it', async () => {
      const get: ObjectStorage['get'] = () => Promise.reject(new Error('the connection broke'));
      const { workspace, locate, store } = await workspaceOn(remote({ get }));
      const answer = await fetch(await locate(key));
      const fault = faultOf('the connection broke');
      await expect(answer.arrayBuffer()).rejects.toThrow();
      expect(workspace.signal.reason).toMatchObject(fault);
      expect(await workspace.causeOf(new Error('End of file'))).toMatchObject(fault);
      await expect(store(path, 'video/mp4')).rejects.toMatchObject(fault);
      const committing = db.database.transaction().execute((trx) => workspace.commit(trx));
      await expect(committing).rejects.toMatchObject(fault);
    });

    test('says so when an object is removed while a tool reads it', async () => {
      const get: ObjectStorage['get'] = (gone) => Promise.reject(new ObjectNotFound(gone));
      const { workspace, locate } = await workspaceOn(remote({ get }));
      await fetch(await locate(key)).then((answer) => expect(answer.arrayBuffer()).rejects.toThrow());
      expect(workspace.signal.reason).toBeInstanceOf(ObjectNotFound);
    });
  });
});

describe('lanes', () => {
  const FOUR_K = { ...VIDEO, codec: 'vp9', profile: null, width: 3840, height: 2160 };

  /** An operation that is ready, on an event with these recordings; `null` for one that nobody has inspected. */
  async function ready(operation: string, ...frameCounts: (number | null)[]): Promise<string> {
    const { eventId } = await startTestWorkflow(db.database, [operation]);
    const file = { flavor: 'presenter/source', filename: 'a.ts', mediatype: 'video/mp2t' };
    for (const [position, frameCount] of frameCounts.entries()) {
      const duration = frameCount && frameCount * 40;
      const streams = frameCount && JSON.stringify([{ ...FOUR_K, frameCount }]);
      const stored = { object_key: randomUUID(), size: 10_000_000_000, sha256: '0'.repeat(64) };
      await db.database
        .insertInto('tracks')
        .values({ id: randomUUID(), event_id: eventId, position, ...file, ...stored, duration, streams })
        .execute();
    }
    return eventId;
  }

  test('encoding hours in 4K goes to a lane of its own, which nothing else waits in, unless it can be divided', async () => {
    const cases: [string, string, ...(number | null)[]][] = [
      ['heavy', 'encode', 250],
      ['long', 'encode', 250, 1_000_000],
      ['heavy', 'encode', null],
      ['heavy', 'encode'],
      ['heavy', 'preview', 1_000_000],
      ['light', 'inspect', 1_000_000],
      ['light', 'unknown'],
      ['copies', 'encode', 1_000_000],
    ];
    for (const [, operation, ...frameCounts] of cases) await ready(operation, ...frameCounts);
    const copying = sql<string>`'{"renditions": "copy"}'::jsonb`;
    const last = db.database.selectFrom('workflow_operations').select((eb) => eb.fn.max('id').as('id'));
    await db.database
      .updateTable('workflow_operations')
      .set({ configuration: copying })
      .where('id', '=', last)
      .execute();
    cases.push(['heavy', 'encode']);
    const divisible = await ready('encode', 1_000_000);
    await db.database
      .updateTable('tracks')
      .set({ mediatype: 'video/webm' })
      .where('event_id', '=', divisible)
      .execute();
    await assignLanes(db.database, createLaneChoice(db.database, operations));
    const deliveries = await takeDeliveries(db.database, LANES);
    const inOrder = deliveries.toSorted((a, b) => a.operationId - b.operationId);
    expect(inOrder.map(({ lane }) => lane)).toEqual(cases.map(([lane]) => lane));
  });

  test('long ones get a slot, and more on larger workers, beside those of the others', () => {
    expect([1, 2, 8].map((n) => slotsOf('long', n))).toEqual([1, 1, 4]);
    expect([slotsOf('heavy', 2), slotsOf('pieces', 8), slotsOf('copies', 8)]).toEqual([2, 1, 1]);
  });
});

test('a folder goes when nobody touches it and nobody works on its operation, whatever the clock says', async () => {
  const workDir = await mkdtemp(join(folder, 'work-'));
  const sweep = async () => {
    await removeAbandonedFolders(db.database, workDir);
    return (await readdir(workDir)).sort();
  };
  const names = (...folders: string[]) => folders.map((each) => basename(each)).sort();
  const { workflowId } = await startTestWorkflow(db.database, ['told']);
  const [operation] = await operationsOf(db.database, workflowId);
  const claim = await claimOperation(db.database, operation?.id ?? 0, 'worker-a', AT_ONCE);
  if (!claim) throw new Error('The operation was not ready.');
  const { operationId, token } = claim;

  const running = await createWorkFolder(workDir, operationId);
  const gone = await createWorkFolder(workDir, 999_999_999);
  const young = await createWorkFolder(workDir, 999_999_998);
  // As after a clock that was set forward by an hour.
  const hourAgo = new Date(Date.now() - 3_600_000);
  for (const each of [running, gone]) await utimes(each, hourAgo, hourAgo);
  expect(await sweep()).toEqual(names(running, young));

  await endClaim(db.database, claim, { kind: 'succeeded', operationId, token }, AT_ONCE);
  await touchWorkFolder(running);
  expect(await sweep()).toEqual(names(running, young));
  await utimes(running, hourAgo, hourAgo);
  expect(await sweep()).toEqual(names(young));
  // As after one that was set forward, and back when the worker had been killed.
  const inAnHour = new Date(Date.now() + 3_600_000);
  await utimes(young, inAnHour, inAnHour);
  expect(await sweep()).toEqual([]);
});
