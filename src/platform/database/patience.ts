import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import { isDatabaseOutage } from './outage.ts';

const PAUSE_MS = 250;

/**
 * Makes `connect()` of a pool wait up to `waitMs` for a database that is down. No query was sent then, so nothing can
 * run twice. During an outage only one connection at a time is tried for all callers.
 */
export function withConnectRetry<Pool extends pg.Pool>(pool: Pool, waitMs: number): Pool {
  type Connect = (...args: unknown[]) => Promise<pg.PoolClient>;
  const connect = pool.connect.bind(pool) as unknown as Connect;
  let trial: Promise<void> | undefined;
  const isBack = async (until: number) => {
    while (performance.now() < until) {
      await delay(PAUSE_MS);
      const client = await connect().catch((error) => {
        if (!isDatabaseOutage(error)) throw error;
        return undefined;
      });
      if (!client) continue;
      client.release();
      return;
    }
  };
  const patient = async () => {
    const until = performance.now() + waitMs;
    for (;;) {
      try {
        return await connect();
      } catch (error) {
        if (!isDatabaseOutage(error) || performance.now() + PAUSE_MS > until) throw error;
        trial ??= isBack(until).finally(() => {
          trial = undefined;
        });
        // The next attempt meets the same error.
        await trial.catch(() => undefined);
      }
    }
  };
  // With a callback, as in the pool's own `query()`, the call does not wait.
  const either: Connect = (...args) => (args.length > 0 ? connect(...args) : patient());
  return Object.assign(pool, { connect: either });
}
