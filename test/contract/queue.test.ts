import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { BullQueue } from '../../src/queue/bull.ts';
import type { Consumer, JobData, WorkQueue } from '../../src/queue/port.ts';
import { migrateQueue, postgresBackend } from '../../src/queue/postgres.ts';
import { redisBackend } from '../../src/queue/redis.ts';
import { silentLogger } from '../../src/telemetry/log.ts';
import { createTestDatabase } from '../support/database.ts';
import { eventually } from '../support/eventually.ts';
import { redisAvailable, startRedis } from '../support/redis.ts';

/** Longer than a test takes. */
const LONG_MS = 60_000;

interface Backend {
  open(): WorkQueue;
  stop(): Promise<void>;
}

/** The last test stops the backend; the clean-up may ask again. */
function once(stop: () => Promise<void>): () => Promise<void> {
  let stopped: Promise<void> | undefined;
  return () => {
    stopped ??= stop();
    return stopped;
  };
}

const backends: Record<string, { available: boolean; start(): Promise<Backend> }> = {
  postgres: {
    available: true,
    start: async () => {
      const database = await createTestDatabase();
      await migrateQueue(database.url);
      return {
        open: () => new BullQueue(postgresBackend(database.url, silentLogger), silentLogger),
        stop: once(database.close),
      };
    },
  },
  redis: {
    available: await redisAvailable(),
    start: async () => {
      const redis = await startRedis();
      return { open: () => new BullQueue(redisBackend(redis.url), silentLogger), stop: once(redis.stop) };
    },
  },
};

describe.each(Object.entries(backends))('work queue over %s', (_name, { available, start }) => {
  describe.skipIf(!available)('', () => {
    let backend: Backend;
    let queue: WorkQueue;
    const consumers: Consumer[] = [];

    beforeAll(async () => {
      backend = await start();
      queue = backend.open();
    });
    afterAll(async () => {
      await Promise.all(consumers.map((consumer) => consumer.close()));
      await queue?.close();
      await backend?.stop();
    });

    const job = (operationId: number, id = `operation-${operationId}-${randomUUID()}`) => ({
      id,
      name: 'noop',
      data: { operationId },
    });

    test('jobs reach the consumer of their lane, each once, with their data', async () => {
      const light: number[] = [];
      const heavy: number[] = [];
      const take =
        (into: number[]) =>
        async ({ operationId }: JobData) =>
          void into.push(operationId);
      consumers.push(queue.consume('light', 4, take(light)), queue.consume('heavy', 1, take(heavy)));
      await queue.deliver(
        'light',
        [1, 2, 3].map((id) => job(id)),
      );
      await queue.deliver('heavy', [job(4)]);
      await eventually(() => expect([light.toSorted(), heavy]).toEqual([[1, 2, 3], [4]]));
    });

    test('a second job of the same id is ignored', async () => {
      const seen: number[] = [];
      const other = backend.open();
      const same = job(10);
      await Promise.all(consumers.splice(0).map((each) => each.close()));
      await other.deliver('heavy', [same]);
      await other.deliver('heavy', [same, job(11)]);
      // One at a time and in order: when the last has come, so has whatever there was before it.
      const consumer = other.consume('heavy', 1, async ({ operationId }) => void seen.push(operationId));
      await eventually(() => expect(seen).toContain(11));
      expect(seen).toEqual([10, 11]);
      await eventually(async () => expect(await queue.lost('heavy', [same.id], LONG_MS)).toContain(same.id));
      await consumer.close();
      await other.close();
    });

    test('jobs that ended, failed or are not there are lost; those that run or wait are not', async () => {
      let finish: () => void = () => undefined;
      const [running, failing, waiting] = [job(20), job(21), job(22)];
      const own = backend.open();
      const consumer = own.consume('light', 1, async ({ operationId }) => {
        if (operationId === 21) throw new Error('as asked');
        if (operationId === 20) await new Promise<void>((resolve) => (finish = resolve));
      });
      await own.deliver('light', [failing, running, waiting]);
      const ids = [running.id, failing.id, waiting.id, 'operation-0-0'];
      const lost = async (beginMs = LONG_MS) => [...(await own.lost('light', ids, beginMs))];
      await eventually(async () => expect(await lost()).toEqual([failing.id, 'operation-0-0']));
      // With a worker that does not begin.
      await eventually(async () => expect(await lost(1)).toEqual([running.id, failing.id, 'operation-0-0']));
      finish();
      await eventually(async () => expect(await lost()).toEqual(ids));
      await consumer.close();
      await own.close();
    });

    test('closing a consumer waits for the job under way', async () => {
      let ended = false;
      let started = false;
      const own = backend.open();
      const consumer = own.consume('light', 1, async () => {
        started = true;
        await new Promise((resolve) => setTimeout(resolve, 300));
        ended = true;
      });
      await own.deliver('light', [job(30)]);
      await eventually(() => expect(started).toBe(true));
      await consumer.close();
      expect(ended).toBe(true);
      await own.close();
    });

    test('a job of a killed worker whose clock was an hour ahead is lost, and given to another soon', async () => {
      const killed = backend.open();
      const { promise: taken, resolve: take } = Promise.withResolvers<void>();
      vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 3_600_000 });
      try {
        killed.consume('long', 1, () => {
          take();
          return new Promise(() => undefined);
        });
        await killed.deliver('long', [job(40, 'of-tomorrow')]);
        await taken;
        await killed.close();
      } finally {
        vi.useRealTimers();
      }
      expect(await queue.lost('long', ['of-tomorrow'], LONG_MS)).toEqual(new Set(['of-tomorrow']));
      await queue.forgetFuture();
      const own = backend.open();
      const seen: number[] = [];
      const consumer = own.consume('long', 1, async ({ operationId }) => void seen.push(operationId));
      await eventually(() => expect(seen).toEqual([40]), 50_000);
      await consumer.close();
      await own.close();
    });

    test('a consumer that is held takes nothing and loses nothing; released, it goes on', async () => {
      const seen: number[] = [];
      let finish: () => void = () => undefined;
      const own = backend.open();
      const consumer = own.consume('long', 2, async ({ operationId }) => {
        seen.push(operationId);
        if (operationId === 50) await new Promise<void>((resolve) => (finish = resolve));
      });
      await own.deliver('long', [job(50)]);
      await eventually(() => expect(seen).toEqual([50]));
      consumer.hold();
      // What was on its way to it may still come; what is delivered after a moment does not.
      await new Promise((resolve) => setTimeout(resolve, 1_500));
      await own.deliver('long', [job(51), job(52)]);
      await new Promise((resolve) => setTimeout(resolve, 1_500));
      expect(seen).toEqual([50]);
      finish();
      await new Promise((resolve) => setTimeout(resolve, 500));
      expect(seen).toEqual([50]);
      consumer.release();
      await eventually(() => expect(seen.toSorted()).toEqual([50, 51, 52]));
      await consumer.close();
      await own.close();
    });

    test('a consumer takes more jobs at once, and fewer, when it is told to', async () => {
      let running = 0;
      let most = 0;
      const own = backend.open();
      const consumer = own.consume('long', 1, async () => {
        running += 1;
        most = Math.max(most, running);
        await new Promise((resolve) => setTimeout(resolve, 200));
        running -= 1;
      });
      const jobs = (from: number) => Array.from({ length: 12 }, (_, i) => job(from + i));
      const work = async (concurrency: number, from: number) => {
        consumer.setConcurrency(concurrency);
        // What a worker has asked for already it gets.
        await new Promise((resolve) => setTimeout(resolve, 1_500));
        most = 0;
        await own.deliver('long', jobs(from));
        await eventually(async () => {
          expect(most).toBe(concurrency);
          expect(running).toBe(0);
        });
      };
      await work(4, 60);
      await work(2, 80);
      await consumer.close();
      await own.close();
    });

    test('the check passes while the backend answers', async () => {
      await expect(queue.check()).resolves.toBeUndefined();
    });

    test('delivering and checking fail soon after the backend went away', async () => {
      const own = backend.open();
      await own.check();
      await backend.stop();
      await expect(own.check()).rejects.toThrow();
      await expect(own.deliver('light', [job(40)])).rejects.toThrow();
      await own.close();
    });
  });
});
