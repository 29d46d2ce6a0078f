import { Redis } from 'ioredis';
import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import { Client } from '../support/client.ts';
import { recording } from '../support/clips.ts';
import { eventually } from '../support/eventually.ts';
import { eventFields, file } from '../support/form.ts';
import { expectNothingLeftOver } from '../support/leftovers.ts';
import { redisAvailable } from '../support/redis.ts';
import { startServerFor, type TestServer } from '../support/server.ts';

/** A job that was lost is missed after half a minute. */
const PATIENCE_MS = 120_000;

const redisHere = await redisAvailable();

async function upload(server: TestServer, count: number): Promise<string[]> {
  const admin = new Client(server.url);
  // One that takes its time to encode.
  const clip = await recording({ seconds: 3, container: 'mpg' });
  const parts = [...eventFields(), file('presenter', 'lecture.mpg', clip)];
  return Promise.all(Array.from({ length: count }, () => admin.create(parts)));
}

async function allSucceed(server: TestServer, ids: readonly string[]): Promise<void> {
  const admin = new Client(server.url);
  const events = await Promise.all(ids.map((id) => admin.processed(id, PATIENCE_MS)));
  expect(events.map(({ processing_state }) => processing_state)).toEqual(ids.map(() => 'SUCCEEDED'));
  await expectNothingLeftOver(server);
}

/** Waits until jobs are in the queue that the worker, busy with others, will not take at once. */
async function jobsWait({ database }: TestServer): Promise<void> {
  await eventually(async () => {
    const waiting = await database
      .selectFrom('workflow_operations')
      .select('id')
      .where('state', '=', 'ready')
      .where('delivered_at', 'is not', null)
      .execute();
    expect(waiting.length).toBeGreaterThan(1);
  });
}

const QUEUES = {
  Redis: async ({ redis }: TestServer) => {
    const connection = new Redis(redis.url);
    await connection.flushall();
    connection.disconnect();
  },
  PostgreSQL: async ({ database }: TestServer) => {
    await sql`TRUNCATE bullmq.job CASCADE`.execute(database);
  },
} as const;

describe.concurrent('the queue', { timeout: 2 * PATIENCE_MS }, () => {
  test.for(['deno', 'node'] as const)(
    'is Redis on %s and goes away: uploads are accepted all the same, and processed once it is back, empty',
    async (runtime, context) => {
      context.skip(!redisHere);
      const server = await startServerFor(context, {
        runtime,
        redis: true,
        env: { WORKER_CONCURRENCY: '1' },
      });
      const before = await upload(server, 4);
      await jobsWait(server);
      await server.redis.stop();
      const meanwhile = await upload(server, 2);
      const health = await fetch(`${server.url}/health/ready`);
      expect(health.status).toBe(503);
      expect(await health.json()).toEqual({
        status: 'unavailable',
        database: 'ok',
        queue: 'unavailable',
        storage: 'ok',
      });
      const dashboard = await new Client(server.url).fetch('/admin/queues/api/queues');
      expect(dashboard.status).toBe(503);
      expect(await dashboard.text()).toBe('The queue does not answer.');
      await server.redis.restart();
      await allSucceed(server, [...before, ...meanwhile]);
      await server.ready();
    },
  );

  test.for(['Redis', 'PostgreSQL'] as const)(
    'on %s is deleted while jobs wait in it: no work is lost',
    async (name, context) => {
      const redis = name === 'Redis';
      context.skip(redis && !redisHere);
      const server = await startServerFor(context, {
        runtime: 'deno',
        redis,
        env: { WORKER_CONCURRENCY: '1' },
      });
      const ids = await upload(server, 4);
      await jobsWait(server);
      await QUEUES[name](server);
      await allSucceed(server, ids);
    },
  );
});
