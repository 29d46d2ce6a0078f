import { Redis } from 'ioredis';
import { CommandError } from '../../../src/cli/failure.ts';
import { startRedis } from '../../../test/support/redis.ts';
import type { Cleanup } from '../support/cleanup.ts';

/** The Redis database of a run. */
export interface BenchRedis {
  url: string;
  version: string;
}

/** A server for this run alone. */
export async function bringRedis(cleanup: Cleanup): Promise<BenchRedis> {
  const { url } = await cleanup.own(startRedis());
  return { url, version: await versionOfEmpty(url) };
}

/**
 * The configured database, emptied again at the end. Nobody else's jobs may be in it: their workers would take those
 * of the run.
 */
export async function useRedis(url: string, cleanup: Cleanup): Promise<BenchRedis> {
  const version = await versionOfEmpty(url);
  cleanup.add(() => emptyRedis(url));
  return { url, version };
}

/** @throws {CommandError} */
async function versionOfEmpty(url: string): Promise<string> {
  const redis = new Redis(url, { maxRetriesPerRequest: 1, lazyConnect: true });
  redis.on('error', () => undefined);
  try {
    await redis.connect().catch((error) => {
      throw new CommandError(`Redis (REDIS_URL) cannot be used: ${error.message}`);
    });
    if ((await redis.dbsize()) > 0) {
      throw new CommandError('The Redis database of REDIS_URL is not empty; give one that is, such as .../9.');
    }
    const [, version = 'unknown'] = /redis_version:(\S+)/.exec(await redis.info('server')) ?? [];
    return version;
  } finally {
    redis.disconnect();
  }
}

/** Removes what the runs have left: it was empty before them. */
async function emptyRedis(url: string): Promise<void> {
  const redis = new Redis(url, { maxRetriesPerRequest: 1 });
  try {
    await redis.flushdb();
  } finally {
    redis.disconnect();
  }
}
