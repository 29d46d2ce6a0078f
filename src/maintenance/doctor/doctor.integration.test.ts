import { execFile } from 'node:child_process';
import { chmod, chown, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { sql } from 'kysely';
import pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { folderPlace } from '#platform/storage/folder.ts';
import type { ObjectStorage } from '#platform/storage/object-storage.ts';
import { sweepStaging } from '#platform/storage/staging-sweep.ts';
import { silentLogger } from '#platform/telemetry/log.ts';
import { databaseForThisFile } from '#test/support/database.ts';
import { temporaryFolder } from '#test/support/folders.ts';
import { storageWith } from '#test/support/storage-with.ts';
import { FOR_AGES } from '#test/support/watched.ts';
import { type Diagnosis, examineParts } from './check.ts';
import { databaseChecks } from './database-checks.ts';
import { storageCheck } from './storage-check.ts';

const db = databaseForThisFile();
let client: pg.Client;
beforeAll(async () => {
  client = new pg.Client(db.url);
  await client.connect();
});
afterAll(() => client.end());

describe('folders', () => {
  const NOBODY = 65_534;
  const isRoot = process.getuid?.() === 0;

  /** What a process finds that is not root, who may write everywhere. */
  async function examined(dataDir: string): Promise<Diagnosis[]> {
    const script = `
      const { foldersCheck } = await import(${JSON.stringify(new URL('./machine-checks.ts', import.meta.url).href)});
      const { folderPlace } = await import(${JSON.stringify(new URL('../../platform/storage/folder.ts', import.meta.url).href)});
      if (process.getuid() === 0) process.setuid(${NOBODY});
      const dataDir = ${JSON.stringify(dataDir)};
      const { run } = foldersCheck(dataDir, ${JSON.stringify(join(dataDir, 'tmp'))}, folderPlace(dataDir));
      console.log(JSON.stringify(await run(new AbortController().signal)));`;
    const args = ['--input-type=module', '--eval', script];
    return JSON.parse((await promisify(execFile)(process.execPath, args)).stdout);
  }

  test.each(['work', 'objects/.unfinished', 'objects/track/5f'])('%s must be writable', async (name) => {
    const dataDir = await temporaryFolder();
    const give = async (path: string) => isRoot && chown(path, NOBODY, NOBODY);
    await give(dataDir);
    let path = dataDir;
    for (const part of name.split('/')) {
      path = join(path, part);
      await mkdir(path);
      await give(path);
    }
    expect((await examined(dataDir)).map(({ state }) => state)).not.toContain('fail');
    await chmod(path, 0o500);
    expect((await examined(dataDir)).at(-1)).toMatchObject({
      state: 'fail',
      found: `${path} is not readable and writable`,
      todo: expect.stringContaining('chown'),
    });
    await chmod(path, 0o700);
  });
});

test('a database that takes no writes is reported, and one that does is left as it was', async () => {
  const checks = databaseChecks(async () => ({ url: db.url, client }));
  const writing = () => Array.fromAsync(examineParts(checks.filter(({ name }) => name === 'writing')));
  expect(await writing()).toMatchObject([{ state: 'ok' }]);
  expect((await client.query('SELECT FROM staging')).rowCount).toBe(0);
  await client.query('SET default_transaction_read_only = on');
  const found = 'default_transaction_read_only is on';
  expect(await writing()).toMatchObject([{ state: 'fail', found }]);
  // The connection can be used afterwards.
  expect((await client.query('SELECT 1 AS one')).rows).toEqual([{ one: 1 }]);
  await client.query('SET default_transaction_read_only = off');
});

describe('the storage', () => {
  const PLACE = { name: 'place', settings: 'nothing' };
  const { signal } = new AbortController();
  let storage: ObjectStorage;
  beforeEach(async () => {
    await db.database.deleteFrom('staging').execute();
    storage = await folderPlace(await temporaryFolder()).open();
    onTestFinished(() => storage.close());
  });
  const ledger = () => db.database.selectFrom('staging').selectAll().execute();
  const probes = async () => (await Array.fromAsync(storage.list('probe/'))).map(({ key }) => key);
  /** The check of the storage with other methods. */
  const checkWith = (methods: Partial<ObjectStorage>) =>
    storageCheck({ ...PLACE, open: async () => storageWith(storage, methods) }, async () => ({ client })).run(signal);

  test('has the probe on the ledger from before its first byte until it is removed', async () => {
    const seen: string[][] = [];
    const look = async () => void seen.push((await ledger()).map(({ object_key }) => object_key));
    const diagnosis = await checkWith({
      begin: async (...args) => {
        await look();
        return storage.begin(...args);
      },
      remove: async (keys) => {
        expect(await probes()).toEqual(keys);
        await storage.remove(keys);
        await look();
      },
    });
    expect(diagnosis).toMatchObject({ state: 'ok' });
    const [key = ''] = seen[0] ?? [];
    expect(key).toMatch(/^probe\//);
    expect(seen).toEqual([[key], [key]]);
    expect([await ledger(), await probes()]).toEqual([[], []]);
  });

  test('has what a killed doctor left swept some minutes later', async () => {
    const remove = () => Promise.reject(new Error('killed'));
    await expect(checkWith({ remove })).rejects.toThrow('killed');
    const { database } = db;
    const sweep = () => sweepStaging({ database, storage, log: silentLogger }, FOR_AGES);
    expect(await sweep()).toBe(0);
    const [entry] = await ledger();
    expect((entry?.expires_at.getTime() ?? 0) - Date.now()).toBeLessThan(3_600_000);
    // The second one gets what the storage was still about to store.
    for (let i = 0; i < 2; i += 1) {
      const expires_at = sql<Date>`now() - interval '1 s'`;
      await database.updateTable('staging').set({ expires_at }).execute();
      expect(await sweep()).toBe(1);
    }
    expect([await ledger(), await probes()]).toEqual([[], []]);
  });

  const failing = { query: () => Promise.reject(new Error('no such table')) } as unknown as pg.Client;
  test.each([
    ['away', () => Promise.reject(new Error('connect ECONNREFUSED'))],
    ['silent', () => new Promise<never>(() => undefined)],
    ['empty', async () => ({ client: failing })],
  ])('is examined where the database is %s', async (_, connect) => {
    expect(await storageCheck({ ...PLACE, open: async () => storage }, connect, 50).run(signal)).toMatchObject({
      state: 'ok',
    });
    expect(await probes()).toEqual([]);
  });
});
