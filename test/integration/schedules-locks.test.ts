import { type RawBuilder, sql } from 'kysely';
import { beforeEach, expect, test } from 'vitest';
import type { Transaction } from '../../src/database/kysely.ts';
import { databaseForThisFile } from '../support/database.ts';
import { eventually } from '../support/eventually.ts';
import {
  claims,
  deleteScheduled,
  knownAgent,
  misclaimed,
  move,
  REFUSED,
  storeBare,
} from '../support/schedules.ts';

const db = databaseForThisFile();
let agentId: string;
let first: string;
/** Shares the second half of the first. */
let second: string;
beforeEach(async () => {
  agentId = await knownAgent(db.database);
  first = await storeBare(db.database, { agentId, from: 60, to: 120 });
  second = await storeBare(db.database, { agentId, from: 90, to: 150, allowConflict: true });
});

const transaction = (work: (trx: Transaction) => Promise<void>) => db.database.transaction().execute(work);

const bare = async (statement: RawBuilder<unknown>) => {
  await statement.execute(db.database);
};

/** Runs work while a transaction that did something else first waits to be committed. */
async function during(
  before: (trx: Transaction) => Promise<void>,
  work: () => Promise<void>,
  { waits }: { waits: boolean },
): Promise<void> {
  let begun: Promise<void> = Promise.resolve();
  await transaction(async (trx) => {
    await before(trx);
    begun = work();
    if (!waits) return begun;
    await waiting(begun);
  });
  await begun;
}

/** Until somebody waits for a lock. */
async function waiting(work: Promise<void>): Promise<void> {
  // Awaited by the caller, later.
  work.catch(() => undefined);
  await eventually(async () => {
    const { rows } = await sql`SELECT FROM pg_stat_activity
      WHERE datname = current_database() AND wait_event_type = 'Lock'`.execute(db.database);
    expect(rows.length).toBeGreaterThan(0);
  });
}

const share = () =>
  transaction(async () => {
    second = await storeBare(db.database, { agentId, from: 70, to: 100, allowConflict: true });
  });

test('who comes to share a time while it is given up gets it', async () => {
  await deleteScheduled(db.database, second);
  await during((trx) => deleteScheduled(trx, first), share, { waits: true });
  expect(await claims(db.database, agentId)).toEqual({ [second]: '70-100' });
});

test.each([
  ['deleting its event', () => deleteScheduled(db.database, first)],
  ['deleting it by bare SQL', () => bare(sql`DELETE FROM schedules WHERE event_id = ${first}`)],
  [
    'moving it by bare SQL',
    () =>
      bare(sql`UPDATE schedules SET end_date = end_date - interval '50 minutes' WHERE event_id = ${first}`),
  ],
])('who gives up a time by %s while somebody comes to share it hands it on', async (_, giveUp) => {
  await transaction((trx) => move(trx, second, { from: 300, to: 330 }));
  await during((trx) => move(trx, second, { from: 70, to: 100, allowConflict: true }), giveUp, {
    waits: true,
  });
  expect((await claims(db.database, agentId))[second]).toBe('70-100');
});

test('time is handed to a recording whose event somebody else is changing, without waiting for that', async () => {
  await during(
    async (trx) => {
      await sql`SELECT FROM events WHERE id = ${second} FOR UPDATE`.execute(trx);
    },
    () =>
      transaction(async (trx) => {
        await sql`SET LOCAL lock_timeout = '10s'`.execute(trx);
        await deleteScheduled(trx, first);
      }),
    { waits: false },
  );
  expect(await claims(db.database, agentId)).toEqual({ [second]: '90-150' });
});

test('two that overlap can be deleted at the same time', async () => {
  await during(
    (trx) => deleteScheduled(trx, first),
    () => deleteScheduled(db.database, second),
    { waits: true },
  );
  expect(await claims(db.database, agentId)).toEqual({});
});

test('who wants a time that is being given up waits for it', async () => {
  await deleteScheduled(db.database, second);
  const store = async () => {
    await storeBare(db.database, { agentId, from: 60, to: 120 });
  };
  await during((trx) => deleteScheduled(trx, first), store, { waits: true });
  await expect(store()).rejects.toMatchObject(REFUSED);
  expect(await misclaimed(db.database)).toEqual([]);
});
