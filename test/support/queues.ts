import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { type BullBackend, BullQueue } from '#platform/queue/bull.ts';
import { migrateQueue, postgresBackend } from '#platform/queue/postgres.ts';
import { redisBackend } from '#platform/queue/redis.ts';
import type { JobData, WorkQueue } from '#platform/queue/work-queue.ts';
import { silentLogger } from '#platform/telemetry/log.ts';
import { claimOperation, endClaim } from '#processing/operation-claims.ts';
import type { LaneChoice } from '#workers/lane-choice.ts';
import { deliverReady } from '#workers/queue-relay.ts';
import { createTestDatabase } from './database.ts';
import { eventually } from './eventually.ts';
import { createPartedDatabase } from './parted-database.ts';
import { startProxyTo } from './proxy.ts';
import { startRedis } from './redis.ts';
import { AT_ONCE, startTestWorkflow } from './workflows.ts';

/** Longer than a test takes. */
export const LONG_MS = 60_000;

export interface QueueServer {
  start(): Promise<{ url: string; stop: () => Promise<void> }>;
  backend(url: string): BullBackend;
}

export const POSTGRES: QueueServer = {
  start: async () => {
    const { url, close } = await createTestDatabase();
    await migrateQueue(url);
    return { url, stop: close };
  },
  backend: (url) => postgresBackend(url, silentLogger),
};
export const REDIS: QueueServer = {
  start: startRedis,
  backend: (url) => redisBackend(url, { silenceMs: 3_000 }),
};

export const job = (operationId: number, id = `operation-${operationId}-${randomUUID()}`) => ({
  id,
  name: 'noop',
  data: { operationId },
});

/** Does something the first time that it is called. */
function once<T>(work: () => T): () => T {
  let done: T | undefined;
  return () => {
    done ??= work();
    return done;
  };
}

/** A server for the tests of a group, and queues on it that close with their test. */
export function queuesOn(server: QueueServer) {
  let url = '';
  let end: () => Promise<void>;
  const stop = once(() => end());
  beforeAll(async () => {
    ({ url, stop: end } = await server.start());
  });
  afterAll(() => stop());
  const open = (): WorkQueue => {
    const queue = new BullQueue(server.backend(url), silentLogger);
    // A test may have closed it.
    queue.close = once(queue.close.bind(queue));
    onTestFinished(() => queue.close());
    return queue;
  };
  return { open, stop };
}

/** A processor that notes the operations of its jobs. */
const into =
  (seen: number[]) =>
  async ({ operationId }: JobData) =>
    void seen.push(operationId);

/** The contract of a work queue. */
export function testWorkQueue(server: QueueServer): void {
  const { open, stop } = queuesOn(server);

  test('jobs reach the consumer of their lane, each once, with their data', async () => {
    const queue = open();
    const [light, heavy]: [number[], number[]] = [[], []];
    const consumers = [queue.consume('light', 4, into(light)), queue.consume('heavy', 1, into(heavy))];
    await queue.deliver(
      'light',
      [1, 2, 3].map((id) => job(id)),
    );
    await queue.deliver('heavy', [job(4)]);
    await eventually(() => expect([light.toSorted(), heavy]).toEqual([[1, 2, 3], [4]]));
    await Promise.all(consumers.map((each) => each.close()));
  });

  test('a second job of the same id is ignored', async () => {
    const queue = open();
    const seen: number[] = [];
    const same = job(10);
    await queue.deliver('heavy', [same]);
    await queue.deliver('heavy', [same, job(11)]);
    // One at a time and in order: when the last has come, so has whatever there was before it.
    const consumer = queue.consume('heavy', 1, into(seen));
    await eventually(() => expect(seen).toContain(11));
    expect(seen).toEqual([10, 11]);
    await eventually(async () => expect(await queue.lost('heavy', [same.id], LONG_MS)).toContain(same.id));
    await consumer.close();
  });

  test('jobs that ended, failed or are not there are lost; those that run or wait are not', async () => {
    const { promise: held, resolve: finish } = Promise.withResolvers<void>();
    const [running, failing, waiting] = [job(20), job(21), job(22)];
    const queue = open();
    const consumer = queue.consume('light', 1, async ({ operationId }) => {
      if (operationId === 21) throw new Error('as asked');
      if (operationId === 20) await held;
    });
    await queue.deliver('light', [failing, running, waiting]);
    const ids = [running.id, failing.id, waiting.id, 'operation-0-0'];
    const lost = async (beginMs = LONG_MS) => [...(await queue.lost('light', ids, beginMs))];
    await eventually(async () => expect(await lost()).toEqual([failing.id, 'operation-0-0']));
    // With a worker that does not begin.
    await eventually(async () => expect(await lost(1)).toEqual([running.id, failing.id, 'operation-0-0']));
    finish();
    await eventually(async () => expect(await lost()).toEqual(ids));
    await consumer.close();
  });

  test('closing a consumer waits for the job under way', async () => {
    let ended = false;
    const { promise: started, resolve: start } = Promise.withResolvers<void>();
    const queue = open();
    const consumer = queue.consume('light', 1, async () => {
      start();
      await pause(300);
      ended = true;
    });
    await queue.deliver('light', [job(30)]);
    await started;
    await consumer.close();
    expect(ended).toBe(true);
  });

  test('a consumer that is held takes nothing and loses nothing; released, it goes on', async () => {
    const [own, other]: [number[], number[]] = [[], []];
    const { promise: held, resolve: finish } = Promise.withResolvers<void>();
    const queue = open();
    const consumer = queue.consume('long', 2, async ({ operationId }) => {
      own.push(operationId);
      if (operationId === 50) await held;
    });
    const deliver = async (id: number) => {
      await queue.deliver('long', [job(id)]);
      await eventually(() => expect([...own, ...other]).toContain(id));
    };
    await deliver(50);
    consumer.hold();
    const another = open().consume('long', 1, into(other));
    // What was on its way to the held one may still come.
    for (const id of [51, 52, 53, 54]) await deliver(id);
    expect(own.length).toBeLessThanOrEqual(2);
    finish();
    for (const id of [55, 56, 57, 58]) await deliver(id);
    expect(own.length).toBeLessThanOrEqual(2);
    expect([...own, ...other].toSorted()).toEqual([50, 51, 52, 53, 54, 55, 56, 57, 58]);
    await another.close();
    consumer.release();
    await deliver(59);
    expect(own.at(-1)).toBe(59);
    await consumer.close();
  });

  test('a consumer takes more jobs at once, and fewer, when it is told to', async () => {
    let [running, most, done] = [0, 0, 0];
    const queue = open();
    const consumer = queue.consume('long', 1, async () => {
      running += 1;
      most = Math.max(most, running);
      await pause(100);
      running -= 1;
      done += 1;
    });
    const work = async (from: number, count: number) => {
      [most, done] = [0, 0];
      await queue.deliver(
        'long',
        Array.from({ length: count }, (_, i) => job(from + i)),
      );
      await eventually(() => expect([done, running]).toEqual([count, 0]));
    };
    for (const [concurrency, from] of [
      [4, 60],
      [2, 80],
    ] as const) {
      consumer.setConcurrency(concurrency);
      // A worker gets the jobs for which it has asked already.
      await work(from, 4);
      await work(from + 4, 12);
      expect(most).toBe(concurrency);
    }
    await consumer.close();
  });

  test('delivering and checking fail soon after the backend went away', async () => {
    const queue = open();
    await expect(queue.check()).resolves.toBeUndefined();
    await stop();
    await expect(queue.check()).rejects.toThrow();
    await expect(queue.deliver('light', [job(40)])).rejects.toThrow();
  });
}

export const RELAY_LIMITS = { overdueMs: 400, queueMs: 5_000, claimMs: 300 };

/** A database and a queue which relays and workers reach through proxies. */
export async function relayBench(server: QueueServer) {
  const { db, proxy, database, close } = await createPartedDatabase();
  onTestFinished(close);
  const { url, stop } = await server.start();
  onTestFinished(stop);
  const queue = await startProxyTo(url);
  onTestFinished(queue.proxy.stop);
  const lanes: LaneChoice = async (ready) => new Map(ready.map((each) => [each.operationId, 'light']));
  return {
    db,
    database,
    toQueue: queue.proxy,
    toDatabase: proxy,
    openQueue: (): WorkQueue => {
      const opened = new BullQueue(server.backend(queue.url), silentLogger);
      onTestFinished(() => opened.close());
      return opened;
    },
    /** A relay that delivers what is ready when it is called. */
    relay:
      (to: WorkQueue, limits = RELAY_LIMITS) =>
      () =>
        deliverReady({ database, queue: to, lanes, limits }),
    operations: () =>
      db.database.selectFrom('workflow_operations').select(['state', 'losses', 'attempts', 'deferrals']),
  };
}

/** How a relay gets on with a queue. */
export function testRelay(server: QueueServer): void {
  test('a delivery is looked into again at once when the queue could not be asked about it', async () => {
    const { db, relay, openQueue, toQueue } = await relayBench(server);
    // Nobody looks into one twice while this test lasts.
    const deliver = relay(openQueue(), { ...RELAY_LIMITS, overdueMs: 600_000 });
    await startTestWorkflow(db.database);
    // The queue may take its time to answer for the first time.
    await eventually(async () => expect(await deliver()).toBe(1));
    await db.database
      .updateTable('workflow_operations')
      .set({ deliveries: 7, delivered_at: sql`now() - interval '1 hour'` })
      .execute();
    await toQueue.part();
    await expect(deliver()).rejects.toThrow();
    await toQueue.join();
    await eventually(async () => expect(await deliver()).toBe(1));
  });

  test('operations that may kill their worker are done by it one after the other', async () => {
    const { db, database, relay, openQueue, operations } = await relayBench(server);
    const queue = openQueue();
    const deliver = relay(queue);
    for (let i = 0; i < 4; i += 1) await startTestWorkflow(db.database);
    await db.database.updateTable('workflow_operations').set({ losses: 3 }).execute();
    let [running, most] = [0, 0];
    queue.consume('light', 4, async ({ operationId }) => {
      const claim = await claimOperation(database, operationId, 'worker', AT_ONCE);
      if (!claim) return;
      running += 1;
      most = Math.max(most, running);
      await pause(100);
      running -= 1;
      await endClaim(database, claim, { kind: 'succeeded', operationId, token: claim.token }, AT_ONCE);
    });
    const done = { state: 'succeeded', losses: 3, attempts: 0, deferrals: 0 };
    await eventually(async () => {
      await deliver();
      expect(await operations().execute()).toEqual(Array(4).fill(done));
    });
    expect(most).toBe(1);
  });
}
