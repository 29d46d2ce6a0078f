import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import { isDatabaseOutage } from './outage.ts';

const PAUSE_MS = 250;

/**
 * Makes whoever needs a connection wait for a database that gives none, as one does that is started anew: nothing has
 * been asked of it then, so nothing can be done twice. While it is away, one connection at a time is tried for all who
 * wait.
 *
 * @param pool whose `connect()` waits from then on
 * @param waitMs how long each waits at most; it fails then with what the database last said
 */
export function waitWhileAway<Pool extends pg.Pool>(pool: Pool, waitMs: number): Pool {
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
        // What goes wrong there is what the next attempt meets.
        await trial.catch(() => undefined);
      }
    }
  };
  // With a callback, as the pool's own `query()` has it, nobody waits.
  const either: Connect = (...args) => (args.length > 0 ? connect(...args) : patient());
  return Object.assign(pool, { connect: either });
}
