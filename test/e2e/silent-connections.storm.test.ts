import { describe, expect, test } from 'vitest';
import { expectReadiness } from '../support/readiness.ts';
import { redisAvailable } from '../support/redis.ts';
import { type ServerOptions, startServerFor } from '../support/server.ts';

const SHUTDOWN_SECONDS = 3;
/** What waits for an answer without a limit waits for minutes; ending itself takes seconds on a busy machine. */
const ENDED_MS = (SHUTDOWN_SECONDS + 27) * 1000;

const redisHere = await redisAvailable();

/** Neither broken nor refused: what is sent arrives nowhere, and nothing comes back. */
describe.concurrent('a connection that goes silent', () => {
  const started = (options: Pick<ServerOptions, 'runtime' | 'redis'>) => ({
    ...options,
    proxy: true,
    env: { SHUTDOWN_SECONDS: String(SHUTDOWN_SECONDS) },
  });

  test.for(['deno', 'node'] as const)(
    'to the database, on %s: the server says so while it lasts, and ends in time when told to',
    async (runtime, context) => {
      const server = await startServerFor(context, started({ runtime }));
      server.proxy.silence();
      await expectReadiness(server, 503, { database: 'unavailable', queue: 'unavailable', storage: 'ok' });
      await server.proxy.join();
      await server.ready();
      server.proxy.silence();
      const told = performance.now();
      server.api.signal('SIGTERM');
      expect(await server.api.ended()).toBe(0);
      expect(performance.now() - told).toBeLessThan(ENDED_MS);
    },
  );

  test.for(['deno', 'node'] as const)('to Redis, on %s: the same', async (runtime, context) => {
    context.skip(!redisHere);
    const server = await startServerFor(context, started({ runtime, redis: true }));
    server.redis.signal('SIGSTOP');
    await expectReadiness(server, 503, { database: 'ok', queue: 'unavailable' });
    server.redis.signal('SIGCONT');
    await server.ready();
    server.redis.signal('SIGSTOP');
    const told = performance.now();
    server.api.signal('SIGTERM');
    expect(await server.api.ended()).toBe(0);
    expect(performance.now() - told).toBeLessThan(ENDED_MS);
  });
});
