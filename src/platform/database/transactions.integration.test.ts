import { setTimeout as pause } from 'node:timers/promises';
import { sql } from 'kysely';
import { afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { databaseForThisFile } from '#test/support/database.ts';
import { silentLogger } from '../telemetry/log.ts';
import type { Transaction } from './kysely.ts';
import { type LockCallbacks, Locks } from './locks.ts';
import { inTransaction, TransactionConflict } from './retry.ts';

const db = databaseForThisFile();

describe('locks', () => {
  const WAIT_MS = 15_000;
  const SHORT_MS = 200;
  const nobody: LockCallbacks = { onWanted: () => undefined, onLost: () => undefined };
  let here: Locks;
  let there: Locks;
  beforeEach(() => {
    here = new Locks(db.url, silentLogger);
    there = new Locks(db.url, silentLogger);
  });
  afterEach(() => Promise.all([here.close(), there.close()]));

  describe.each([
    ['the same process', () => here],
    ['another process', () => there],
  ])('with %s', (_who, other) => {
    test('a lock is held once, and another holder can have it afterwards', async () => {
      const held = await here.take('a', nobody, WAIT_MS);
      expect(await other().take('a', nobody, SHORT_MS)).toBeUndefined();
      expect(await other().take('b', nobody, WAIT_MS)).toBeDefined();
      await held?.release();
      expect(await other().take('a', nobody, WAIT_MS)).toBeDefined();
    });

    test('a holder learns that it is wanted', async () => {
      const held = await here.take('a', { ...nobody, onWanted: () => void held?.release() }, WAIT_MS);
      expect(await other().take('a', nobody, WAIT_MS)).toBeDefined();
    });
  });

  test('a holder that has waited for it is not asked for it itself', async () => {
    const held = await here.take('a', nobody, WAIT_MS);
    const onWanted = vi.fn();
    const taking = there.take('a', { ...nobody, onWanted }, WAIT_MS);
    await pause(500);
    await held?.release();
    expect(await taking).toBeDefined();
    await pause(500);
    expect(onWanted).not.toHaveBeenCalled();
  });

  test('holders are asked for theirs when the process is about to end, and those that take one then', async () => {
    const wanted: string[] = [];
    const asked = (name: string): LockCallbacks => ({ ...nobody, onWanted: () => void wanted.push(name) });
    await here.take('a', asked('a'), WAIT_MS);
    here.wantAll();
    await here.take('b', asked('b'), WAIT_MS);
    expect(wanted).toEqual(['a', 'b']);
  });

  test('a holder is asked now and then, not all the time, while another process waits', async () => {
    const onWanted = vi.fn();
    await here.take('a', { ...nobody, onWanted }, WAIT_MS);
    // It has a connection from now on.
    await there.take('b', nobody, WAIT_MS);
    expect(await there.take('a', nobody, 1000)).toBeUndefined();
    await vi.waitFor(() => expect(onWanted).toHaveBeenCalled(), WAIT_MS);
    expect(onWanted.mock.calls.length).toBeLessThan(15);
  });

  test('of many at once in two processes one has it', async () => {
    let [holders, most] = [0, 0];
    const use = async (locks: Locks) => {
      const held = await locks.take('a', nobody, WAIT_MS);
      expect(held).toBeDefined();
      holders += 1;
      most = Math.max(most, holders);
      await pause(5);
      holders -= 1;
      await held?.release();
    };
    await Promise.all(Array.from({ length: 12 }, (_, i) => use(i % 2 ? here : there)));
    expect(most).toBe(1);
  });

  test('a lock is lost with its connection, its holder learns it, and another can have it immediately', async () => {
    const onLost = vi.fn();
    const held = await here.take('a', { ...nobody, onLost }, WAIT_MS);
    await sql`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE application_name = 'inlet locks' AND datname = current_database()`.execute(db.database);
    expect(await there.take('a', nobody, WAIT_MS)).toBeDefined();
    await vi.waitFor(() => expect(onLost).toHaveBeenCalled(), WAIT_MS);
    await held?.release();
    expect(await here.take('a', nobody, SHORT_MS)).toBeUndefined();
    expect(await here.take('b', nobody, WAIT_MS)).toBeDefined();
  });

  test('a database that is away is an error', async () => {
    const away = new Locks('postgres://127.0.0.1:1/none', silentLogger);
    await expect(away.take('a', nobody, WAIT_MS)).rejects.toThrow('ECONNREFUSED');
    await away.close();
  });
});

describe('transactions that are tried again', () => {
  beforeAll(() =>
    db.database
      .insertInto('series')
      .values([{ id: 'a' }, { id: 'b' }])
      .execute(),
  );
  const rename = (trx: Transaction, id: string, title: string) =>
    trx.updateTable('series').set({ title }).where('id', '=', id).execute();

  test('both of a deadlock succeed, one after the other', async () => {
    const both = Promise.withResolvers<void>();
    let met = 0;
    const change = (first: string, second: string) => {
      let attempts = 0;
      return inTransaction(db.database, async (trx) => {
        attempts += 1;
        await rename(trx, first, `${first} then ${second}`);
        met += 1;
        if (met === 2) both.resolve();
        await both.promise;
        await rename(trx, second, `${first} then ${second}`);
        return attempts;
      });
    };
    const attempts = await Promise.all([change('a', 'b'), change('b', 'a')]);
    expect(attempts.sort()).toEqual([1, 2]);
    const series = db.database.selectFrom('series').select('title').where('id', 'in', ['a', 'b']);
    expect(new Set((await series.execute()).map(({ title }) => title)).size).toBe(1);
  });

  test('leave nothing of an attempt that has to start again', async () => {
    let attempts = 0;
    await inTransaction(db.database, async (trx) => {
      const id = `attempt-${++attempts}`;
      await trx.insertInto('series').values({ id }).execute();
      if (attempts === 1) throw new TransactionConflict();
    });
    const kept = db.database.selectFrom('series').select('id').where('id', 'like', 'attempt-%');
    expect(await kept.execute()).toEqual([{ id: 'attempt-2' }]);
  });

  test('report an error of the work itself immediately', async () => {
    const work = vi.fn((trx: Transaction) => sql`SELECT 1 / 0`.execute(trx));
    await expect(inTransaction(db.database, work)).rejects.toThrow('division by zero');
    expect(work).toHaveBeenCalledTimes(1);
  });

  test('are given up when they never succeed', async () => {
    const work = () => Promise.reject(new TransactionConflict('Again.'));
    await expect(inTransaction(db.database, work)).rejects.toThrow('Again.');
  });
});
