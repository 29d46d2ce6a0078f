import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ChangeFeed } from '../../src/changes/feed.ts';
import { lastNumber, numberChanges, readChanges } from '../../src/changes/read.ts';
import { recordChanges } from '../../src/changes/record.ts';
import { Notifications } from '../../src/database/notifications.ts';
import { Pulse } from '../../src/pulse.ts';
import { silentLogger } from '../../src/telemetry/log.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { eventually } from '../support/eventually.ts';

let db: TestDatabase;
beforeAll(async () => {
  db = await createTestDatabase();
});
afterAll(() => db.close());

const record = (n: number, series = 'series') =>
  db.database
    .transaction()
    .execute((trx) => recordChanges(trx, [{ kind: 'series.changed', seriesId: series, data: { n } }]));

/** Begins to write a change, and commits it when told. */
async function begin(n: number): Promise<{ commit(): Promise<void> }> {
  let commit = () => {};
  const wanted = new Promise<void>((resolve) => {
    commit = resolve;
  });
  let written = () => {};
  const ready = new Promise<void>((resolve) => {
    written = resolve;
  });
  const done = db.database.transaction().execute(async (trx) => {
    await recordChanges(trx, [{ kind: 'series.changed', seriesId: 'slow', data: { n } }]);
    written();
    await wanted;
  });
  await ready;
  return {
    commit: () => {
      commit();
      return done;
    },
  };
}

const told = async (after: number) => {
  await numberChanges(db.database);
  return readChanges(db.database, after);
};
const facts = (changes: readonly { data: Readonly<Record<string, unknown>> }[]) =>
  changes.map(({ data }) => data.n);

describe('the log of changes', () => {
  test('a transaction that commits late comes late, after what has been read, and is not skipped', async () => {
    const start = await lastNumber(db.database);
    const slow = await begin(1);
    await record(2);
    const first = await told(start);
    expect(facts(first)).toEqual([2]);
    await slow.commit();
    const cursor = first.at(-1)?.number ?? 0;
    const second = await told(cursor);
    expect(facts(second)).toEqual([1]);
    expect(second[0]?.number).toBe(cursor + 1);
  });

  test('what is rolled back is never told, and leaves no gap', async () => {
    const start = await lastNumber(db.database);
    await record(1);
    const failed = db.database.transaction().execute(async (trx) => {
      await recordChanges(trx, [{ kind: 'series.changed', seriesId: 'series', data: { n: 2 } }]);
      throw new Error('rolled back');
    });
    await expect(failed).rejects.toThrow('rolled back');
    await record(3);
    const changes = await told(start);
    expect(facts(changes)).toEqual([1, 3]);
    expect(changes.map(({ number }) => number)).toEqual([start + 1, start + 2]);
  });

  test('readers that go on all the time lose and double nothing that forty writers commit at once', async () => {
    const start = await lastNumber(db.database);
    const writers = Array.from({ length: 40 }, async (_, writer) => {
      for (let n = 0; n < 25; n += 1) {
        await db.database.transaction().execute(async (trx) => {
          await recordChanges(trx, [{ kind: 'series.changed', seriesId: `w${writer}`, data: { n } }]);
          await sql`SELECT pg_sleep(random() * 0.01)`.execute(trx);
        });
      }
    });
    let writing = true;
    const reader = async () => {
      const seen: { number: number; seriesId: string | null; n: unknown }[] = [];
      const read = async () => {
        const changes = await told(seen.at(-1)?.number ?? start);
        seen.push(...changes.map(({ number, seriesId, data }) => ({ number, seriesId, n: data.n })));
      };
      while (writing) await read();
      await read();
      return seen;
    };
    const readers = [reader(), reader(), reader()];
    await Promise.all(writers);
    writing = false;
    for (const seen of await Promise.all(readers)) {
      expect(seen.map(({ number }) => number)).toEqual(Array.from({ length: 1000 }, (_, i) => start + 1 + i));
      for (let writer = 0; writer < 40; writer += 1) {
        const own = seen.filter(({ seriesId }) => seriesId === `w${writer}`).map(({ n }) => n);
        expect(own).toEqual(Array.from({ length: 25 }, (_, n) => n));
      }
    }
  });

  test('a feed tells followers of each change once and in order, also what was committed before it listened', async () => {
    const notifications = new Notifications(db.url, silentLogger);
    const pulse = new Pulse();
    const feed = new ChangeFeed({ database: db.database, notifications, pulse, log: silentLogger });
    try {
      const seen: unknown[] = [];
      await feed.start();
      expect(pulse.rounds.map(({ name }) => name)).toEqual(['reading of changes']);
      feed.follow((changes) => seen.push(...facts(changes)));
      for (let n = 0; n < 50; n += 1) await record(n);
      await eventually(() => expect(seen).toEqual(Array.from({ length: 50 }, (_, n) => n)));
      expect(facts(feed.recentAfter(feed.position - 2) ?? [])).toEqual([48, 49]);
      expect(feed.recentAfter(feed.position - 51)).toBeUndefined();
    } finally {
      await feed.close();
      await notifications.close();
    }
  });
});
