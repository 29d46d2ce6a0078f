import { z } from 'zod';
import { defineEndpoint } from '#platform/http/endpoint/endpoint.ts';
import { withTimeout } from '#platform/process/timeout.ts';

const Liveness = z.object({ status: z.literal('live') }).meta({ id: 'Liveness' });

const part = z.enum(['ok', 'unavailable']);

const Readiness = z
  .object({
    status: z.enum(['ready', 'unavailable']),
    database: part,
    queue: part,
    storage: part,
    worker: part,
  })
  .meta({ id: 'Readiness' });

const CHECK_MS = 2_000;

/** Checks of the parts that the service depends on. Each rejects when the part does not answer. */
export type HealthChecks = Readonly<Record<'database' | 'queue' | 'storage' | 'worker', () => Promise<void>>>;

export const liveness = defineEndpoint({
  method: 'get',
  path: '/health/live',
  access: 'public',
  summary: 'Check that the process answers',
  description: 'Does not check the parts that it depends on.',
  answers: { 200: { description: 'The process answers.', plain: true, body: Liveness, example: { status: 'live' } } },
  handle: ({ c }) => c.json({ status: 'live' }),
});

/** Checks every part. The response is public, so reasons are in the log only. */
export const readiness = defineEndpoint({
  method: 'get',
  path: '/health/ready',
  access: 'public',
  summary: 'Check that every part answers',
  description:
    'Checks the database, the queue, the object storage and the workers of the same process. The log says why a part does not answer.',
  answers: {
    200: {
      description: 'Every part answers.',
      plain: true,
      body: Readiness,
      example: { status: 'ready', database: 'ok', queue: 'ok', storage: 'ok', worker: 'ok' },
    },
    503: {
      description: 'At least one part does not answer.',
      plain: true,
      body: Readiness,
      example: { status: 'unavailable', database: 'ok', queue: 'unavailable', storage: 'ok', worker: 'ok' },
    },
  },
  handle: async ({ c }, { health }: { health: HealthChecks }) => {
    const states = await Promise.all(
      Object.entries(health).map(async ([name, check]) => {
        try {
          await withTimeout(check(), CHECK_MS, `The ${name} did not answer within ${CHECK_MS} ms.`);
          return [name, 'ok'] as const;
        } catch (error) {
          c.var.log.warn({ err: error, part: name }, 'not ready');
          return [name, 'unavailable'] as const;
        }
      }),
    );
    const ready = states.every(([, state]) => state === 'ok');
    return c.json({ status: ready ? 'ready' : 'unavailable', ...Object.fromEntries(states) }, ready ? 200 : 503);
  },
});
