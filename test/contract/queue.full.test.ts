import { setTimeout as pause } from 'node:timers/promises';
import { sql } from 'kysely';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { BullQueue } from '#platform/queue/bull.ts';
import type { JobData } from '#platform/queue/work-queue.ts';
import { silentLogger } from '#platform/telemetry/log.ts';
import { claimOperation, endClaim, recoverLostOperations } from '#processing/operation-claims.ts';
import { eventually } from '../support/eventually.ts';
import { startProxyTo } from '../support/proxy.ts';
import { job, LONG_MS, POSTGRES, queuesOn, REDIS, relayBench, testRelay, testWorkQueue } from '../support/queues.ts';
import { redisAvailable } from '../support/redis.ts';
import { FOR_AGES } from '../support/watched.ts';
import { AT_ONCE, startTestWorkflow } from '../support/workflows.ts';

/** Of a worker that could take a job; longer than one takes to begin. */
const SILENCE_MS = 3_000;
/** After so long the queue gives a job to another worker whose own has not been heard of. */
const LOCK_MS = 15_000;
const OPERATIONS = 24;
const FAULTS = 8;

const redisHere = await redisAvailable();

describe.skipIf(!redisHere)('on Redis', () => {
  describe('a work queue', () => testWorkQueue(REDIS));
  describe('a relay', () => testRelay(REDIS));
});

describe.each([
  ['PostgreSQL', true, POSTGRES],
  ['Redis', redisHere, REDIS],
] as const)('a queue on %s', (_name, available, server) => {
  describe.skipIf(!available)('', () => {
    const { open } = queuesOn(server);

    test('gives a job of a killed worker whose clock was an hour ahead to another soon', async () => {
      const [queue, killed] = [open(), open()];
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
      const seen: number[] = [];
      const consumer = open().consume('long', 1, async ({ operationId }) => void seen.push(operationId));
      await eventually(() => expect(seen).toEqual([40]), 50_000);
      await consumer.close();
    });

    async function queueThroughProxy() {
      const { url, stop } = await server.start();
      onTestFinished(stop);
      const { proxy, url: through } = await startProxyTo(url);
      onTestFinished(proxy.stop);
      const options = { consumerSilenceMs: SILENCE_MS };
      const queue = new BullQueue(server.backend(through), silentLogger, options);
      onTestFinished(() => queue.close());
      return { proxy, queue };
    }

    test('that was away when its consumer started is consumed once it is back', async () => {
      const { proxy, queue } = await queueThroughProxy();
      const seen: number[] = [];
      await proxy.part();
      const take = async ({ operationId }: JobData) => void seen.push(operationId);
      const consumer = queue.consume('light', 1, take);
      await expect(queue.deliver('light', [job(1)])).rejects.toThrow();
      await proxy.join();
      await eventually(() => queue.check());
      // A second one of the same identifier is ignored.
      const second = job(2);
      await eventually(() => queue.deliver('light', [second]));
      await eventually(() => expect(seen).toEqual([2]));
      await consumer.close();
    });

    test('that goes silent is consumed again, without waiting for the job under way', async () => {
      const { proxy, queue } = await queueThroughProxy();
      const seen: number[] = [];
      const { promise: held, resolve: finish } = Promise.withResolvers<void>();
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
      await eventually(() => queue.deliver('light', [job(2)]));
      await eventually(() => expect(seen).toContain(2));
      const closed = vi.fn();
      const closing = consumer.close().then(closed);
      await pause(50);
      expect(closed).not.toHaveBeenCalled();
      finish();
      await closing;
      if (performance.now() - delivered < LOCK_MS) expect(seen.filter((id) => id === 1)).toEqual([1]);
    });

    test('has every operation done soon after, whatever happens on the way', async () => {
      const { db, database, relay, openQueue, toQueue, toDatabase } = await relayBench(server);
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
        const left = db.database.selectFrom('workflow_operations').selectAll();
        expect(await left.where('state', 'not in', ['succeeded']).execute()).toEqual([]);
      }, 45_000);
      over = true;
      await Promise.all(loops);
    });
  });
});
