import { createServer } from 'node:net';
import { expect, test } from 'vitest';
import { createTestDatabase } from '../../test/support/database.ts';
import { isDatabaseOutage } from './outage.ts';
import { createPool } from './pool.ts';

const failure = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => undefined,
    (error) => error,
  );

async function refusedUrl(): Promise<string> {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return `postgres://nobody@127.0.0.1:${typeof address === 'object' ? address?.port : 0}/none`;
}

test('a server that is not there is an outage', async () => {
  const pool = createPool(await refusedUrl(), { onError: () => undefined });
  expect(isDatabaseOutage(await failure(pool.query('SELECT 1')))).toBe(true);
  await pool.end();
});

test('a connection cut in the middle of a query is an outage, a wrong query is none', async () => {
  const db = await createTestDatabase();
  const pool = createPool(db.url, { onError: () => undefined });
  expect(isDatabaseOutage(await failure(pool.query('SELEKT')))).toBe(false);
  const cut = failure(pool.query("SELECT pg_terminate_backend(pg_backend_pid()), 'cut'"));
  expect(isDatabaseOutage(await cut)).toBe(true);
  await pool.end();
  await db.close();
});

test('a pool that waits in vain for a connection is an outage', async () => {
  const db = await createTestDatabase();
  const pool = createPool(db.url, { max: 1, onError: () => undefined });
  const client = await pool.connect();
  pool.options.connectionTimeoutMillis = 1;
  expect(isDatabaseOutage(await failure(pool.query('SELECT 1')))).toBe(true);
  client.release();
  await pool.end();
  await db.close();
});

test('what the object storage cannot reach is not blamed on the database', () => {
  const refused = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
  expect(isDatabaseOutage(new Error('query failed', { cause: refused }))).toBe(true);
  expect(isDatabaseOutage(Object.assign(refused, { $metadata: { attempts: 3 } }))).toBe(false);
});
