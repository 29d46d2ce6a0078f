import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../test/support/database.ts';
import type { Transaction } from './kysely.ts';
import { inTransaction, Outdated } from './retry.ts';

let db: TestDatabase;
beforeAll(async () => {
  db = await createTestDatabase();
  await db.database
    .insertInto('series')
    .values([{ id: 'a' }, { id: 'b' }])
    .execute();
});
afterAll(() => db?.close());

const rename = (trx: Transaction, id: string, title: string) =>
  trx.updateTable('series').set({ title }).where('id', '=', id).execute();

test('of two transactions in a deadlock both succeed, one after the other', async () => {
  let met = 0;
  let release: () => void = () => undefined;
  const both = new Promise<void>((resolve) => {
    release = resolve;
  });
  const change = (first: string, second: string) => {
    let attempts = 0;
    return inTransaction(db.database, async (trx) => {
      attempts += 1;
      await rename(trx, first, `${first} then ${second}`);
      met += 1;
      if (met === 2) release();
      await both;
      await rename(trx, second, `${first} then ${second}`);
      return attempts;
    });
  };
  const attempts = await Promise.all([change('a', 'b'), change('b', 'a')]);
  expect(attempts.sort()).toEqual([1, 2]);
  const titles = await db.database.selectFrom('series').select('title').execute();
  expect(new Set(titles.map(({ title }) => title)).size).toBe(1);
});

test('nothing of an attempt that has to start again stays', async () => {
  let attempts = 0;
  await inTransaction(db.database, async (trx) => {
    attempts += 1;
    await trx
      .insertInto('series')
      .values({ id: `attempt-${attempts}` })
      .execute();
    if (attempts === 1) throw new Outdated();
  });
  const kept = await db.database.selectFrom('series').select('id').where('id', 'like', 'attempt-%').execute();
  expect(kept).toEqual([{ id: 'attempt-2' }]);
});

test('an error of the work itself is reported at once', async () => {
  let attempts = 0;
  const failing = inTransaction(db.database, async (trx) => {
    attempts += 1;
    await sql`SELECT 1 / 0`.execute(trx);
  });
  await expect(failing).rejects.toThrow('division by zero');
  expect(attempts).toBe(1);
});

test('a transaction that never gets through is given up', async () => {
  await expect(
    inTransaction(db.database, async () => {
      throw new Outdated('Again.');
    }),
  ).rejects.toThrow('Again.');
});
