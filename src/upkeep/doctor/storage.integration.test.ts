import { sql } from 'kysely';
import type pg from 'pg';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../test/support/database.ts';
import { storages, type TestStorage } from '../../../test/support/storages.ts';
import { FOR_AGES } from '../../../test/support/watched.ts';
import { createClient, USUAL } from '../../database/limits.ts';
import type { ObjectStorage } from '../../storage/port.ts';
import { sweepStaging } from '../../storage/sweep.ts';
import { silentLogger } from '../../telemetry/log.ts';
import { storageCheck } from './storage.ts';

const LEASE_SECONDS = 60;
const signal = new AbortController().signal;
let db: TestDatabase;
let client: pg.Client;
beforeAll(async () => {
  db = await createTestDatabase();
  client = createClient(db.url, USUAL, 'test');
  await client.connect();
});
beforeEach(() => db.database.deleteFrom('staging').execute());
afterAll(async () => {
  await client.end();
  await db.close();
});

const ledger = () => db.database.selectFrom('staging').selectAll().execute();

/** The storage with other methods. */
function but(storage: ObjectStorage, methods: Partial<ObjectStorage>): ObjectStorage {
  return new Proxy(storage, {
    get: (target, name) => {
      const value = methods[name as keyof ObjectStorage] ?? target[name as keyof ObjectStorage];
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}

async function keysOf(storage: ObjectStorage): Promise<string[]> {
  const keys: string[] = [];
  for await (const { key } of storage.list('probe/')) keys.push(key);
  return keys;
}

test.each(storages)(
  '%s: the probe is on the ledger from before its first byte until it is removed',
  async (_, start) => {
    const { storage, stop }: TestStorage = await start();
    try {
      const seen: string[][] = [];
      const look = async () => void seen.push((await ledger()).map(({ object_key }) => object_key));
      const watched = but(storage, {
        begin: async (...args) => {
          await look();
          return storage.begin(...args);
        },
        remove: async (keys) => {
          expect(await keysOf(storage)).toEqual(keys);
          await storage.remove(keys);
          await look();
        },
      });
      const check = storageCheck(
        async () => watched,
        async () => ({ client }),
      );
      expect(await check.run(signal)).toMatchObject({ state: 'ok' });
      const [key = ''] = seen[0] ?? [];
      expect(key).toMatch(/^probe\//);
      expect(seen).toEqual([[key], [key]]);
      expect(await ledger()).toEqual([]);
      expect(await keysOf(storage)).toEqual([]);
    } finally {
      await storage.close();
      await stop();
    }
  },
);

test('what a doctor leaves that did not come to remove it is swept some minutes later', async () => {
  const { storage, stop } = await (storages[0] as (typeof storages)[number])[1]();
  try {
    const remove = () => Promise.reject(new Error('killed'));
    const check = storageCheck(
      async () => but(storage, { remove }),
      async () => ({ client }),
    );
    await expect(check.run(signal)).rejects.toThrow('killed');
    const sweep = () =>
      sweepStaging({ database: db.database, storage, log: silentLogger }, LEASE_SECONDS, FOR_AGES);
    expect(await sweep()).toBe(0);
    const [entry] = await ledger();
    expect((entry?.expires_at.getTime() ?? 0) - Date.now()).toBeLessThan(3_600_000);
    // The second one gets what the storage was still about to store.
    for (let i = 0; i < 2; i += 1) {
      await db.database
        .updateTable('staging')
        .set({ expires_at: sql<Date>`now() - interval '1 s'` })
        .execute();
      expect(await sweep()).toBe(1);
    }
    expect(await keysOf(storage)).toEqual([]);
    expect(await ledger()).toEqual([]);
  } finally {
    await storage.close();
    await stop();
  }
});

test.each([
  ['away', () => Promise.reject(new Error('connect ECONNREFUSED'))],
  ['silent', () => new Promise<never>(() => undefined)],
  [
    'empty',
    async () => ({
      client: { query: () => Promise.reject(new Error('no such table')) } as unknown as pg.Client,
    }),
  ],
])('the storage is looked at where the database is %s', async (_, connect) => {
  const { storage, stop } = await (storages[0] as (typeof storages)[number])[1]();
  try {
    expect(await storageCheck(async () => storage, connect, 50).run(signal)).toMatchObject({ state: 'ok' });
    expect(await keysOf(storage)).toEqual([]);
  } finally {
    await storage.close();
    await stop();
  }
});
