import { setTimeout as pause } from 'node:timers/promises';
import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createDatabase, type Database } from '../../src/database/kysely.ts';
import { createPool } from '../../src/database/pool.ts';
import { BullQueue } from '../../src/queue/bull.ts';
import type { WorkQueue } from '../../src/queue/port.ts';
import { postgresBackend } from '../../src/queue/postgres.ts';
import { redisBackend } from '../../src/queue/redis.ts';
import { silentLogger } from '../../src/telemetry/log.ts';
import { claimOperation, endClaim, recoverLostOperations } from '../../src/workflows/claims.ts';
import type { LaneChoice } from '../../workers/lanes.ts';
import { deliverReady } from '../../workers/relay.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { eventually } from '../support/eventually.ts';
import { startProxyTo, type TestProxy } from '../support/proxy.ts';
import { redisAvailable, startRedis } from '../support/redis.ts';
import { FOR_AGES } from '../support/watched.ts';
import { AT_ONCE, startTestWorkflow } from '../support/workflows.ts';

const OPERATIONS = 24;
const FAULTS = 8;
const LIMITS = { overdueMs: 400, queueMs: 5_000, claimMs: 300 };
const redisHere = await redisAvailable();
const undo: (() => Promise<unknown>)[] = [];

let db: TestDatabase;
/** Parts the relays and workers from the queue, and from the database. */
let toQueue: TestProxy;
let toDatabase: TestProxy;
let openQueue: () => WorkQueue;
let database: Database;

async function behind(url: string): Promise<{ proxy: TestProxy; url: string }> {
  const through = await startProxyTo(url);
  undo.push(through.proxy.stop);
  return through;
}

async function begin(redis: boolean): Promise<void> {
  db = await createTestDatabase();
  undo.push(db.close);
  const server = redis ? await startRedis() : undefined;
  if (server) undo.push(server.stop);
  const queue = await behind(server?.url ?? db.url);
  const own = await behind(db.url);
  [toQueue, toDatabase] = [queue.proxy, own.proxy];
  openQueue = () => {
    const backend = server ? redisBackend(queue.url) : postgresBackend(queue.url, silentLogger);
    const opened = new BullQueue(backend, silentLogger);
    undo.push(() => opened.close());
    return opened;
  };
  const pool = createPool(own.url, { onError: () => undefined });
  undo.push(() => pool.end());
  database = createDatabase(pool);
}

afterEach(async () => {
  for (const step of undo.splice(0).reverse()) await step();
});

describe.each([
  ['PostgreSQL', false],
  ['Redis', true],
] as const)('a queue on %s', (_name, redis) => {
  describe.skipIf(redis && !redisHere)('', () => {
    beforeEach(() => begin(redis));

    const lanes: LaneChoice = async (ready) => new Map(ready.map((each) => [each.operationId, 'light']));
    const relay =
      (queue: WorkQueue, limits = LIMITS) =>
      () =>
        deliverReady({ database, queue, lanes, limits });
    const longAgo = () =>
      sql`UPDATE workflow_operations SET delivered_at = now() - interval '1 hour'`.execute(db.database);

    test('a delivery is looked into again at once when the queue could not be asked about it', async () => {
      // Nobody looks into one twice while this test lasts.
      const deliver = relay(openQueue(), { ...LIMITS, overdueMs: 600_000 });
      await startTestWorkflow(db.database);
      // The queue may take its time to answer for the first time.
      await eventually(async () => expect(await deliver()).toBe(1));
      await db.database.updateTable('workflow_operations').set({ deliveries: 7 }).execute();
      await longAgo();
      await toQueue.part();
      await expect(deliver()).rejects.toThrow();
      await toQueue.join();
      await eventually(async () => expect(await deliver()).toBe(1));
    });

    test('operations that may kill their worker are done by it one after the other', async () => {
      const queue = openQueue();
      const deliver = relay(queue);
      for (let i = 0; i < 4; i += 1) await startTestWorkflow(db.database);
      await db.database.updateTable('workflow_operations').set({ losses: 3 }).execute();
      let running = 0;
      let most = 0;
      queue.consume('light', 4, async ({ operationId }) => {
        const claim = await claimOperation(database, operationId, 'worker', AT_ONCE);
        if (!claim) return;
        running += 1;
        most = Math.max(most, running);
        await pause(100);
        running -= 1;
        await endClaim(database, claim, { kind: 'succeeded', operationId, token: claim.token }, AT_ONCE);
      });
      await eventually(async () => {
        await deliver();
        const operations = await db.database
          .selectFrom('workflow_operations')
          .select(['state', 'losses', 'attempts', 'deferrals'])
          .execute();
        expect(operations).toEqual(
          Array(4).fill({ state: 'succeeded', losses: 3, attempts: 0, deferrals: 0 }),
        );
      }, 20_000);
      expect(most).toBe(1);
    });

    test('whatever happens on the way, every operation is done soon after', async () => {
      const queues = [openQueue(), openQueue()];
      let over = false;
      const loops = queues.map(async (queue) => {
        const deliver = relay(queue);
        while (!over) {
          await deliver().catch(() => undefined);
          await recoverLostOperations(database, FOR_AGES).catch(() => undefined);
          await pause(20);
        }
      });
      let well = false;
      const stuck = [0, 0];
      for (const [i, queue] of queues.entries()) {
        queue.consume('light', 4, async ({ operationId }) => {
          if (!well && Math.random() < 0.1) throw new Error('It broke before it had begun.');
          // A worker that has lost its way to the database.
          if (!well && Number(stuck[i]) < 2 && Math.random() < 0.1) {
            stuck[i] = Number(stuck[i]) + 1;
            await new Promise(() => undefined);
          }
          const claim = await claimOperation(database, operationId, `worker-${i}`, AT_ONCE);
          if (!claim) return;
          const { token } = claim;
          await pause(Math.random() * 20);
          const patience = { signal: new AbortController().signal, onWait: () => undefined };
          await endClaim(database, claim, { kind: 'succeeded', operationId, token }, patience);
        });
      }
      const started = Array.from({ length: OPERATIONS }, () => startTestWorkflow(db.database, ['a', 'b']));
      for (let fault = 0; fault < FAULTS; fault += 1) {
        const proxy = Math.random() < 0.5 ? toQueue : toDatabase;
        await pause(Math.random() * 150);
        await proxy.part();
        await pause(Math.random() * 200);
        await proxy.join();
      }
      well = true;
      await Promise.all(started);
      // Who was told nothing of his claim does not work on it; nor is anybody to wait for his silence.
      await sql`UPDATE workflow_operations SET heartbeat_at = now() - interval '1 hour'
        WHERE state = 'running'`.execute(db.database);
      await eventually(async () => {
        const left = await db.database
          .selectFrom('workflow_operations')
          .select(['id', 'operation', 'state', 'deliveries', 'delivered_at', 'worker', 'heartbeat_at'])
          .where('state', 'not in', ['succeeded'])
          .execute();
        expect(left).toEqual([]);
      }, 45_000);
      over = true;
      await Promise.all(loops);
    });
  });
});
