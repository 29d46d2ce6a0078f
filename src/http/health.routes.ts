import { Hono } from 'hono';
import { withTimeout } from '../timeout.ts';

const CHECK_MS = 3_000;

/** A part the service depends on; `check` rejects when it does not answer. */
export interface HealthPart {
  name: string;
  check(): Promise<void>;
}

/**
 * `/health/live`: the process answers. `/health/ready`: every part does too, or 503 and which one does not; why is in
 * the log, not in the answer, since both are open to everybody.
 */
export function healthRoutes(parts: readonly HealthPart[]): Hono {
  return new Hono({ strict: false })
    .get('/health/live', (c) => c.json({ status: 'live' }))
    .get('/health/ready', async (c) => {
      const states = await Promise.all(
        parts.map(async ({ name, check }) => {
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
      return c.json(
        { status: ready ? 'ready' : 'unavailable', ...Object.fromEntries(states) },
        ready ? 200 : 503,
      );
    });
}
