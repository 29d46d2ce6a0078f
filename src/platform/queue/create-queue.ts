import type { Config } from '../config/config.ts';
import type { Logger } from '../telemetry/log.ts';
import { BullQueue } from './bull.ts';
import { postgresBackend } from './postgres.ts';
import { redisBackend } from './redis.ts';
import type { WorkQueue } from './work-queue.ts';

/** Creates the queue: on Redis when REDIS_URL is set, else on the database. */
export function createQueue(config: Pick<Config, 'redisUrl'>, databaseUrl: string, log: Logger): WorkQueue {
  return new BullQueue(config.redisUrl ? redisBackend(config.redisUrl) : postgresBackend(databaseUrl, log), log);
}
