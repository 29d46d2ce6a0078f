import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { type BullBackend, BullQueue } from '../../src/queue/bull.ts';
import type { JobData } from '../../src/queue/port.ts';
import { migrateQueue, postgresBackend } from '../../src/queue/postgres.ts';
import { redisBackend } from '../../src/queue/redis.ts';
import { silentLogger } from '../../src/telemetry/log.ts';
import { createTestDatabase } from '../support/database.ts';
import { eventually } from '../support/eventually.ts';
import { startProxyTo } from '../support/proxy.ts';
import { redisAvailable, startRedis } from '../support/redis.ts';

/** Of a worker that could take a job; longer than one takes to begin. */
const SILENCE_MS = 3_000;
/** After so long the queue gives a job to another worker whose own has not been heard of. */
const LOCK_MS = 15_000;

const BACKENDS = {
  PostgreSQL: {
    available: true,
    start: async () => {
      const { url, close } = await createTestDatabase();
      onTestFinished(close);
      await migrateQueue(url);
      return url;
    },
    backend: (url: string): BullBackend => postgresBackend(url, silentLogger),
  },
  Redis: {
    available: await redisAvailable(),
    start: async () => {
      const { url, stop } = await startRedis();
      onTestFinished(stop);
      return url;
    },
    backend: (url: string): BullBackend => redisBackend(url, { silenceMs: 3_000 }),
  },
};

const job = (operationId: number) => ({
  id: `operation-${operationId}-${randomUUID()}`,
  name: 'noop',
  data: { operationId },
});

describe.each(Object.entries(BACKENDS))('a queue on %s', (_name, { available, start, backend }) => {
  async function queueThroughProxy() {
    const { proxy, url } = await startProxyTo(await start());
    onTestFinished(proxy.stop);
    const queue = new BullQueue(backend(url), silentLogger, { consumerSilenceMs: SILENCE_MS });
    onTestFinished(() => queue.close());
    return { proxy, queue };
  }

  test.skipIf(!available)('that was away when its consumer started is consumed once it is back', async () => {
    const { proxy, queue } = await queueThroughProxy();
    const seen: number[] = [];
    await proxy.part();
    const consumer = queue.consume(
      'light',
      1,
      async ({ operationId }: JobData) => void seen.push(operationId),
    );
    await expect(queue.deliver('light', [job(1)])).rejects.toThrow();
    await sleep(100);
    await proxy.join();
    await eventually(() => queue.check());
    // A second one of the same identifier is ignored.
    const second = job(2);
    await eventually(() => queue.deliver('light', [second]));
    await eventually(() => expect(seen).toEqual([2]));
    await consumer.close();
  });

  test.skipIf(!available)(
    'that goes silent is consumed again, without waiting for the job under way',
    async () => {
      const { proxy, queue } = await queueThroughProxy();
      const seen: number[] = [];
      let finish: () => void = () => undefined;
      const held = new Promise<void>((resolve) => {
        finish = resolve;
      });
      const consumer = queue.consume('light', 2, async ({ operationId }) => {
        seen.push(operationId);
        if (operationId === 1) await held;
      });
      const first = job(1);
      const delivered = performance.now();
      await eventually(() => queue.deliver('light', [first]));
      await eventually(() => expect(seen).toEqual([1]));
      // Whatever is connected now gets no answer any more, and is not told so.
      proxy.lose();
      await eventually(async () => {
        await queue.deliver('light', [job(2)]);
      });
      await eventually(() => expect(seen).toContain(2));
      const closed = vi.fn();
      const closing = consumer.close().then(closed);
      await sleep(50);
      expect(closed).not.toHaveBeenCalled();
      finish();
      await closing;
      if (performance.now() - delivered < LOCK_MS) expect(seen.filter((id) => id === 1)).toEqual([1]);
    },
  );
});
