import { Redis } from 'ioredis';
import { startProxy, startProxyTo, type TestProxy } from '../../../test/support/proxy.ts';
import { startRedis, type TestRedis } from '../../../test/support/redis.ts';
import { startS3, type TestS3 } from '../../../test/support/s3.ts';
import { type S3Between, startS3Between } from '../../../test/support/s3-between.ts';
import type { Cleanup } from '../../bench/support/cleanup.ts';

type Environment = Record<string, string>;

/** What a world has beside its database. */
export interface Services {
  redis?: TestRedis;
  s3?: TestS3;
  /** Single requests to S3 pass here. */
  between?: S3Between;
  proxies?: { redis?: TestProxy; s3?: TestProxy };
  /** The processes of each on this machine. */
  servers?: { redis?: () => number[] };
}

/** A Redis, behind a proxy for those who have `env`. */
export async function addRedis(env: Environment, direct: Environment, cleanup: Cleanup): Promise<Services> {
  const redis = await cleanup.own(startRedis());
  const through = await startProxyTo(redis.url);
  cleanup.add(through.proxy.stop);
  env.REDIS_URL = through.url;
  direct.REDIS_URL = redis.url;
  let pid = 0;
  const look = async () => {
    pid = await redisPid(redis.url);
  };
  await look();
  const restart = async () => {
    await redis.restart();
    await look();
  };
  return {
    redis: { ...redis, restart },
    proxies: { redis: through.proxy },
    servers: { redis: () => [pid] },
  };
}

async function redisPid(url: string): Promise<number> {
  const redis = new Redis(url);
  const [, pid] = /process_id:(\d+)/.exec(await redis.info('server')) ?? [];
  redis.disconnect();
  return Number(pid);
}

/** An S3 server, for those who have `env` behind something that meddles with requests, and a proxy. */
export async function addS3(env: Environment, direct: Environment, cleanup: Cleanup): Promise<Services> {
  const s3 = await cleanup.own(startS3());
  const between = await cleanup.own(startS3Between(s3.env.AWS_ENDPOINT_URL_S3 ?? ''));
  const proxy = await startProxy('127.0.0.1', Number(new URL(between.url).port));
  cleanup.add(proxy.stop);
  Object.assign(env, s3.env, { AWS_ENDPOINT_URL_S3: `http://127.0.0.1:${proxy.port}` });
  Object.assign(direct, s3.env);
  return { s3, between, proxies: { s3: proxy } };
}
