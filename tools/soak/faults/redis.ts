import { Redis } from 'ioredis';
import type { TestRedis } from '../../../test/support/redis.ts';
import type { Fault } from '../plan.ts';

/** What happens to the server of the queue, which keeps nothing. */
export function redisFaults(redis: TestRedis): Fault[] {
  const fault = (what: string, begin: () => unknown): Fault => ({
    name: `Redis ${what}`,
    kind: `Redis ${what}`,
    target: 'redis',
    begin,
  });
  return [fault('is restarted, empty', () => redis.restart()), fault('is flushed', () => flush(redis.url))];
}

async function flush(url: string): Promise<void> {
  const client = new Redis(url, { maxRetriesPerRequest: 1 });
  await client.flushall();
  client.disconnect();
}
