import { Redis } from 'ioredis';
import { expect, onTestFinished, test } from 'vitest';
import { redisAvailable, startRedis } from '#test/support/redis.ts';
import { examineParts } from './check.ts';
import { queueCheck } from './queue-check.ts';

test.runIf(await redisAvailable())('a Redis that takes no writes is reported', async () => {
  const redis = await startRedis();
  onTestFinished(redis.stop);
  const check = queueCheck(redis.url, () => Promise.reject(new Error('nobody asks for it')));
  const found = expect.stringContaining('NOREPLICAS');
  const examined = () => Array.fromAsync(examineParts([check]));
  expect(await examined()).not.toContainEqual(expect.objectContaining({ found }));
  const connection = new Redis(redis.url);
  await connection.config('SET', 'min-replicas-to-write', '1');
  connection.disconnect();
  expect(await examined()).toMatchObject([{ state: 'fail', found }]);
});
