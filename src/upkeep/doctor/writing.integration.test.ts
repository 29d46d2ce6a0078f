import { Redis } from 'ioredis';
import pg from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import { createTestDatabase } from '../../../test/support/database.ts';
import { redisAvailable, startRedis } from '../../../test/support/redis.ts';
import { type Check, examineParts } from './check.ts';
import { databaseChecks } from './database.ts';
import { queueCheck } from './queue.ts';

const examined = (...checks: Check[]) => Array.fromAsync(examineParts(checks));

test('a database that takes no writes is told of, and one that does is left as it was', async () => {
  const db = await createTestDatabase();
  const client = new pg.Client(db.url);
  await client.connect();
  onTestFinished(async () => {
    await client.end();
    await db.close();
  });
  const writing = databaseChecks(async () => ({ url: db.url, client })).filter(
    ({ name }) => name === 'writing',
  );
  expect(await examined(...writing)).toMatchObject([{ state: 'ok' }]);
  expect((await client.query('SELECT FROM staging')).rowCount).toBe(0);
  await client.query('SET default_transaction_read_only = on');
  expect(await examined(...writing)).toMatchObject([
    { state: 'fail', found: expect.stringContaining('read-only transaction') },
  ]);
  // The connection can be used for what comes after it.
  expect((await client.query('SELECT 1 AS one')).rows).toEqual([{ one: 1 }]);
});

test.runIf(await redisAvailable())('a Redis that takes no writes is told of', async () => {
  const redis = await startRedis();
  onTestFinished(redis.stop);
  const check = queueCheck(redis.url, () => Promise.reject(new Error('nobody asks for it')));
  expect(await examined(check)).not.toContainEqual(
    expect.objectContaining({ found: expect.stringContaining('NOREPLICAS') }),
  );
  const connection = new Redis(redis.url);
  await connection.config('SET', 'min-replicas-to-write', '1');
  connection.disconnect();
  expect(await examined(check)).toMatchObject([
    { state: 'fail', found: expect.stringContaining('NOREPLICAS') },
  ]);
});
