import { z } from 'zod';
import { defineEndpoint } from '#platform/http/endpoint/endpoint.ts';
import { withTimeout } from '#platform/process/timeout.ts';

/** The process answers. */
const Liveness = z.object({ status: z.literal('live') }).meta({ id: 'Liveness' });

const part = z.enum(['ok', 'unavailable']);

/** States of the parts that the service depends on. */
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

/** The parts the service depends on, by name; each rejects when the part does not answer. */
export type HealthChecks = Readonly<Record<'database' | 'queue' | 'storage' | 'worker', () => Promise<void>>>;

/** The process answers. */
export const liveness = defineEndpoint({
  method: 'get',
  path: '/health/live',
  access: 'public',
  summary: 'Whether the process answers',
  description: 'Says nothing of the parts that it depends on.',
  answers: { 200: { description: 'It does.', plain: true, body: Liveness, example: { status: 'live' } } },
  handle: ({ c }) => c.json({ status: 'live' }),
});

/** Every part does too; why one does not is in the log, not in the answer, since that is open to everybody. */
export const readiness = defineEndpoint({
  method: 'get',
  path: '/health/ready',
  access: 'public',
  summary: 'Whether every part answers',
  description:
    'Database, queue and object storage, and whether the workers in the same process get on with their work. Why a part does not answer is in the log.',
  answers: {
    200: {
      description: 'All do.',
      plain: true,
      body: Readiness,
      example: { status: 'ready', database: 'ok', queue: 'ok', storage: 'ok', worker: 'ok' },
    },
    503: {
      description: 'At least one does not.',
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
