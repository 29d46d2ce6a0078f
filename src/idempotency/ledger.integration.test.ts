import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../test/support/database.ts';
import { eventually } from '../../test/support/eventually.ts';
import { FOR_AGES } from '../../test/support/watched.ts';
import { silentLogger } from '../telemetry/log.ts';
import { IdempotencyLedger, KeyLost } from './ledger.ts';
import { sweepIdempotencyKeys } from './sweep.ts';

const ANSWER = { status: 201, headers: { Location: 'http://inlet.test/1' }, body: '{"identifier":"1"}' };

let db: TestDatabase;
const ledgers: IdempotencyLedger[] = [];
beforeAll(async () => {
  db = await createTestDatabase();
});
beforeEach(() => db.database.deleteFrom('idempotency_keys').execute());
afterAll(async () => {
  for (const ledger of ledgers) ledger.close();
  await db.close();
});

/** The ledger of another process. */
function ledger(): IdempotencyLedger {
  const built = new IdempotencyLedger({
    database: db.database,
    watch: { seen: FOR_AGES },
    log: silentLogger,
  });
  ledgers.push(built);
  return built;
}

async function take(of: IdempotencyLedger, key = 'key', sender = 'ada'): Promise<string> {
  const known = await of.take(sender, key);
  if (known.state !== 'taken') throw new Error(`The key is ${known.state}.`);
  return known.attempt;
}

const complete = (of: IdempotencyLedger, attempt: string) =>
  db.database.transaction().execute((trx) => of.complete(trx, attempt, 'fingerprint', ANSWER));

const expire = (key = 'key') =>
  db.database
    .updateTable('idempotency_keys')
    .set({ expires_at: new Date(0) })
    .where('key', '=', key)
    .execute();

const expiry = async () =>
  (await db.database.selectFrom('idempotency_keys').select('expires_at').executeTakeFirstOrThrow())
    .expires_at;

/** How many statements wait for what another transaction has locked. */
async function waiting(): Promise<number> {
  const { rows } = await sql`SELECT FROM pg_stat_activity
    WHERE datname = current_database() AND wait_event_type = 'Lock'`.execute(db.database);
  return rows.length;
}

test('of many requests at once, in several processes, one gets the key', async () => {
  const processes = [ledger(), ledger(), ledger()];
  const states = await Promise.all(
    Array.from({ length: 30 }, (_, i) => (processes[i % 3] as IdempotencyLedger).take('ada', 'key')),
  );
  expect(states.filter(({ state }) => state === 'taken')).toHaveLength(1);
  expect(states.filter(({ state }) => state === 'under way')).toHaveLength(29);
});

test('an answer is remembered for a day, for its sender only', async () => {
  const own = ledger();
  await complete(own, await take(own));
  expect(await ledger().take('ada', 'key')).toEqual({
    state: 'answered',
    fingerprint: 'fingerprint',
    answer: ANSWER,
  });
  const hours = ((await expiry()).getTime() - Date.now()) / 3_600_000;
  expect(hours).toBeCloseTo(24, 1);
  expect((await own.take('eve', 'key')).state).toBe('taken');
  await expire();
  expect((await own.take('ada', 'key')).state).toBe('taken');
});

test('a key is free again once it is given back, but not after the answer', async () => {
  const own = ledger();
  await own.release(await take(own));
  const attempt = await take(own);
  await complete(own, attempt);
  await own.release(attempt);
  expect((await own.take('ada', 'key')).state).toBe('answered');
});

test('an answer in a transaction that rolls back was never given', async () => {
  const own = ledger();
  const attempt = await take(own);
  const rolledBack = db.database.transaction().execute(async (trx) => {
    await own.complete(trx, attempt, 'fingerprint', ANSWER);
    throw new Error('afterwards');
  });
  await expect(rolledBack).rejects.toThrow('afterwards');
  expect((await own.take('ada', 'key')).state).toBe('under way');
});

test('a request that comes while the first is being committed learns how that ends', async () => {
  const own = ledger();
  const attempt = await take(own);
  let second: ReturnType<IdempotencyLedger['take']> | undefined;
  await db.database.transaction().execute(async (trx) => {
    await own.complete(trx, attempt, 'fingerprint', ANSWER);
    second = ledger().take('ada', 'key');
    await eventually(async () => expect(await waiting()).toBe(1));
  });
  expect((await second)?.state).toBe('answered');
});

test('the key of a process that died is taken over, and what comes back from the dead changes nothing', async () => {
  const dead = ledger();
  const lost = await take(dead);
  await expire();
  const alive = ledger();
  const attempt = await take(alive);
  await expire();
  await dead.renew();
  expect((await expiry()).getTime()).toBe(0);
  await alive.renew();
  await dead.release(lost);
  await expect(complete(dead, lost)).rejects.toBeInstanceOf(KeyLost);
  expect((await dead.take('ada', 'key')).state).toBe('under way');
  await complete(alive, attempt);
});

test('renewing keeps a request under way, not its answer', async () => {
  const own = ledger();
  const attempt = await take(own);
  await expire();
  await own.renew();
  expect((await ledger().take('ada', 'key')).state).toBe('under way');
  await complete(own, attempt);
  await expire();
  await own.renew();
  expect((await expiry()).getTime()).toBe(0);
});

test('the sweep removes what has expired, batch by batch, and nothing else', async () => {
  const own = ledger();
  for (let i = 0; i < 7; i += 1) {
    const attempt = await take(own, `key ${i}`);
    if (i % 2) await complete(own, attempt);
    if (i < 5) await expire(`key ${i}`);
  }
  expect(await sweepIdempotencyKeys(db.database, FOR_AGES, 2)).toBe(5);
  expect(await sweepIdempotencyKeys(db.database, FOR_AGES, 2)).toBe(0);
  expect((await own.take('ada', 'key 5')).state).toBe('answered');
  expect((await own.take('ada', 'key 6')).state).toBe('under way');
});
