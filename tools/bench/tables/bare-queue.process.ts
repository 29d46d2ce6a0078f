/**
 * BullMQ alone on the configured backend, with the settings that Inlet gives it: adds jobs that do nothing and works
 * them off. A process of its own, answering tasks (see `helper-process.ts`).
 */
import { randomUUID } from 'node:crypto';
import { loadConfig } from '../../../src/platform/config/config.ts';
import { postgresBackend } from '../../../src/platform/queue/postgres.ts';
import { redisBackend } from '../../../src/platform/queue/redis.ts';
import { silentLogger } from '../../../src/platform/telemetry/log.ts';
import { serveTasks } from '../support/helper-process.ts';

export interface BareJobs {
  jobs: number;
}

const NAME = 'bench';
/** As many as Inlet's relay hands over at once. */
const BATCH = 200;
const OPTIONS = { attempts: 1, removeOnComplete: { age: 3600 }, removeOnFail: { age: 3600 } };

const { redisUrl, databaseUrl = '', workerConcurrency: concurrency } = loadConfig(process.env);
const backend = redisUrl ? redisBackend(redisUrl) : postgresBackend(databaseUrl, silentLogger);
const queue = backend.queue(NAME, {});
const worker = backend.worker(NAME, async () => undefined, { concurrency, ...OPTIONS });
let left = 0;
let done = () => {};
worker.on('completed', () => {
  left -= 1;
  if (left === 0) done();
});
await worker.waitUntilReady();

await serveTasks(async ({ jobs }: BareJobs): Promise<{ ms: number }> => {
  const finished = new Promise<void>((resolve) => {
    done = resolve;
  });
  left = jobs;
  const started = performance.now();
  for (let added = 0; added < jobs; added += BATCH) {
    const batch = Array.from({ length: Math.min(BATCH, jobs - added) }, (_, i) => ({
      name: 'noop',
      data: { operationId: added + i },
      opts: { ...OPTIONS, jobId: `bench-${randomUUID()}` },
    }));
    await queue.addBulk(batch);
  }
  await finished;
  return { ms: performance.now() - started };
});
await worker.close(true);
await queue.close();
await backend.close();
