import { Redis } from 'ioredis';
import { sql } from 'kysely';
import { describe, expect, type TestContext, test } from 'vitest';
import { Client } from '../support/client.ts';
import { recording } from '../support/clips.ts';
import { eventually } from '../support/eventually.ts';
import { eventFields, file } from '../support/form.ts';
import { createHeldEncoder } from '../support/held-encoder.ts';
import { expectNothingLeftOver } from '../support/leftovers.ts';
import { expectReadiness } from '../support/readiness.ts';
import { redisAvailable } from '../support/redis.ts';
import { type ServerOptions, startServerFor, type TestServer } from '../support/server.ts';
import { encodingOf } from '../support/workflows.ts';

/** A job that was lost is missed after half a minute. */
const PATIENCE_MS = 120_000;

const redisHere = await redisAvailable();

async function upload(server: TestServer, count: number): Promise<string[]> {
  const admin = new Client(server.url);
  const clip = await recording({ seconds: 1, container: 'mpg' });
  const parts = [...eventFields(), file('presenter', 'lecture.mpg', clip)];
  return Promise.all(Array.from({ length: count }, () => admin.create(parts)));
}

async function allSucceed(server: TestServer, ids: readonly string[]): Promise<void> {
  const admin = new Client(server.url);
  const events = await Promise.all(ids.map((id) => admin.processed(id, PATIENCE_MS)));
  expect(events.map(({ processing_state }) => processing_state)).toEqual(ids.map(() => 'SUCCEEDED'));
  await expectNothingLeftOver(server);
}

/** A server whose only heavy worker is held up by the first of three uploads while the others wait in the queue. */
async function serverWithJobs(test: TestContext, options: Pick<ServerOptions, 'runtime' | 'redis'>) {
  const encoder = await createHeldEncoder();
  await encoder.hold();
  const env = { ...encoder.env, WORKER_CONCURRENCY: '1' };
  const server = await startServerFor(test, { ...options, env });
  const ids = await upload(server, 3);
  await eventually(async () => {
    const encodings = await Promise.all(ids.map((id) => encodingOf(server.database, id)));
    const delivered = encodings.filter((encoding) => encoding?.delivered_at);
    expect(delivered.map((encoding) => encoding?.state).sort()).toEqual(['ready', 'ready', 'running']);
  }, 60_000);
  return { server, ids, encoder };
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
      const { server, ids: before, encoder } = await serverWithJobs(context, { runtime, redis: true });
      await server.redis.stop();
      const meanwhile = await upload(server, 2);
      const parts = { database: 'ok', queue: 'unavailable', storage: 'ok', worker: 'ok' };
      const checks = Array.from({ length: 15 }, () => expectReadiness(server, 503, parts));
      await Promise.all(checks);
      const dashboard = await new Client(server.url).fetch('/admin/queues/api/queues');
      expect(dashboard.status).toBe(503);
      expect(await dashboard.text()).toBe('The queue does not answer.');
      await encoder.release();
      await server.redis.restart();
      await allSucceed(server, [...before, ...meanwhile]);
      await server.ready();
      expect(server.api.log.filter(({ level }) => level === 'text')).toEqual([]);
      expect(server.api.output).not.toContain('MaxListenersExceeded');
    },
  );

  test.for(['Redis', 'PostgreSQL'] as const)(
    'on %s is deleted while jobs wait in it: no work is lost',
    async (name, context) => {
      const redis = name === 'Redis';
      context.skip(redis && !redisHere);
      const { server, ids, encoder } = await serverWithJobs(context, { runtime: 'deno', redis });
      await QUEUES[name](server);
      await encoder.release();
      await allSucceed(server, ids);
    },
  );
});
