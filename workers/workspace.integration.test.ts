import { createHash, randomUUID } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { FolderStorage } from '../src/storage/folder.ts';
import { objectKey } from '../src/storage/keys.ts';
import type { ObjectStorage } from '../src/storage/port.ts';
import { StagingLedger } from '../src/storage/staging.ts';
import { silentLogger } from '../src/telemetry/log.ts';
import { createTestDatabase, type TestDatabase } from '../test/support/database.ts';
import { createWorkspace, type WorkspaceOptions } from './workspace.ts';

const CONTENT = Buffer.alloc(1_000_000, 'recording');

let db: TestDatabase;
let folder: string;
let storage: FolderStorage;
let staging: StagingLedger;
let path: string;
let controller: AbortController;

beforeAll(async () => {
  db = await createTestDatabase();
  folder = await mkdtemp(join(tmpdir(), 'inlet-workspace-'));
  storage = await new FolderStorage(join(folder, 'objects')).open();
  staging = new StagingLedger({ database: db.database, storage, owner: randomUUID(), log: silentLogger });
  path = join(folder, 'result');
  await writeFile(path, CONTENT);
});
afterAll(async () => {
  staging.close();
  await db.close();
  await rm(folder, { recursive: true });
});
beforeEach(() => {
  controller = new AbortController();
});

/** The same objects as in a bucket: no tool can read them in place. Counts the downloads. */
function remote(changes: Partial<ObjectStorage> = {}): ObjectStorage & { downloads: number } {
  const far = {
    kind: 's3' as const,
    downloads: 0,
    put: storage.put.bind(storage),
    get: (...args: Parameters<ObjectStorage['get']>) => {
      far.downloads += 1;
      return storage.get(...args);
    },
    begin: storage.begin.bind(storage),
    append: storage.append.bind(storage),
    complete: storage.complete.bind(storage),
    size: storage.size.bind(storage),
    remove: storage.remove.bind(storage),
    list: storage.list.bind(storage),
    unfinished: storage.unfinished.bind(storage),
    removeUnfinished: storage.removeUnfinished.bind(storage),
    localPath: () => undefined,
    check: storage.check.bind(storage),
    requireRoom: storage.requireRoom.bind(storage),
    close: async () => undefined,
    ...changes,
  };
  return far;
}

async function workspaceOn(objects: ObjectStorage, more: Pick<WorkspaceOptions, 'onAway'> = {}) {
  const own = await mkdtemp(join(folder, 'own-'));
  return {
    own,
    ...createWorkspace({ folder: own, storage: objects, staging, signal: controller.signal, ...more }),
  };
}

describe('store', () => {
  it('stores a staged object and gives the size and checksum of its bytes', async () => {
    const { store, stagedKeys } = await workspaceOn(storage);
    const { objectKey: key, size, sha256 } = await store(path, 'video/mp4');
    expect(size).toBe(CONTENT.length);
    expect(sha256).toBe(createHash('sha256').update(CONTENT).digest('hex'));
    expect(stagedKeys()).toEqual([key]);
    expect(key).toMatch(/^element\//);
    expect(CONTENT.equals(await readFile(storage.localPath(key)))).toBe(true);
    const ledger = db.database.selectFrom('staging').select('object_key').where('object_key', '=', key);
    expect(await ledger.execute()).toHaveLength(1);
  });

  it('stores an empty file', async () => {
    const empty = join(folder, 'empty');
    await writeFile(empty, '');
    const { store } = await workspaceOn(storage);
    expect(await store(empty, 'text/plain')).toMatchObject({ size: 0 });
  });

  it('keeps nothing of an object whose storing failed', async () => {
    const put = () => Promise.reject(new Error('the storage refuses'));
    const { store, stagedKeys } = await workspaceOn(remote({ put }));
    await expect(store(path, 'video/mp4')).rejects.toMatchObject({
      name: 'StorageFault',
      cause: new Error('the storage refuses'),
    });
    expect(stagedKeys()).toEqual([]);
  });

  it('waits with a result for a storage that is away, where somebody is told of it', async () => {
    let away = true;
    const put: ObjectStorage['put'] = async (...args) => {
      if (away) throw new Error('the storage refuses');
      return storage.put(...args);
    };
    const pauses: number[] = [];
    const onAway = (_error: unknown, againInMs: number) => {
      pauses.push(againInMs);
      away = false;
    };
    const { store, stagedKeys } = await workspaceOn(remote({ put }), { onAway });
    const { objectKey: key, size } = await store(path, 'video/mp4');
    expect({ size, staged: stagedKeys(), pauses: pauses.length }).toEqual({
      size: CONTENT.length,
      staged: [key],
      pauses: 1,
    });
  });

  it('stages nothing for a file that is not there, or when aborted', async () => {
    const { store, stagedKeys } = await workspaceOn(storage);
    await expect(store(join(folder, 'missing'), 'video/mp4')).rejects.toMatchObject({ code: 'ENOENT' });
    controller.abort(new Error('stop'));
    await expect(store(path, 'video/mp4')).rejects.toThrow('stop');
    expect(stagedKeys()).toEqual([]);
  });
});

describe('open', () => {
  let key: string;
  beforeEach(async () => {
    key = objectKey('track');
    await storage.put(key, Readable.from([CONTENT]), { mediatype: 'video/mp4' });
  });

  it('gives the place of an object that can be read where it is', async () => {
    const { open } = await workspaceOn(storage);
    expect(await open(key)).toBe(storage.localPath(key));
  });

  it('downloads any other into its folder, once', async () => {
    const far = remote();
    const { open, own } = await workspaceOn(far);
    const [first, second] = await Promise.all([open(key), open(key)]);
    expect(dirname(first)).toBe(own);
    expect(second).toBe(first);
    expect(CONTENT.equals(await readFile(first))).toBe(true);
    expect(far.downloads).toBe(1);
  });

  it('leaves nothing of a download that broke off, and tries again when asked again', async () => {
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
    await expect(open(key)).rejects.toMatchObject({
      name: 'StorageFault',
      cause: new Error('the connection broke'),
    });
    expect(CONTENT.equals(await readFile(await open(key)))).toBe(true);
  });

  it('fails for an object that is gone', async () => {
    const { open } = await workspaceOn(remote());
    await expect(open(objectKey('track'))).rejects.toThrow('No object is stored');
  });
});
