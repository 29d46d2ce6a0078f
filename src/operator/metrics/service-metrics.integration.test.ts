import { sql } from 'kysely';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../test/support/database.ts';
import { type Sample, samplesOf, sumOf } from '../../../test/support/exposition.ts';
import type { WorkQueue } from '../../queue/port.ts';
import { silentLogger } from '../../telemetry/log.ts';
import { createWebhook, insertTest } from '../../webhooks/queries.ts';
import { ServiceMetrics } from './service-metrics.ts';

const queue = { check: async () => undefined, queues: () => [] } as unknown as WorkQueue;

let db: TestDatabase;
beforeEach(async () => {
  db = await createTestDatabase();
});
afterEach(() => db?.close());

async function read(): Promise<Sample[]> {
  const { database } = db;
  return samplesOf(await new ServiceMetrics({ database, vital: database, queue, log: silentLogger }).text());
}

const webhook = () =>
  createWebhook(db.database, { url: 'https://lms.example.org/', secret: 'whsec_x', filter: '', by: 'admin' });

test('the test of a webhook that nobody has sent yet has been due since ever, and costs no figure', async () => {
  await insertTest(db.database, await webhook());
  const samples = await read();
  expect(sumOf(samples, 'inlet_database_up')).toBe(1);
  expect(samples.map(({ name }) => name)).toContain('inlet_oldest_webhook_message_seconds');
  expect(samples.filter(({ value }) => !Number.isFinite(value))).toEqual([]);
});

test('what cannot be read costs itself alone, and the database is up', async () => {
  await sql`DROP TABLE storage_sizes`.execute(db.database);
  const samples = await read();
  expect(sumOf(samples, 'inlet_database_up')).toBe(1);
  const names = samples.map(({ name }) => name);
  expect(names).not.toContain('inlet_stored_bytes');
  expect(names).toEqual(
    expect.arrayContaining(['inlet_workers', 'inlet_ready_operations', 'inlet_database_bytes']),
  );
});

test('what takes too long does, too', async () => {
  const samples = await db.database.transaction().execute(async (trx) => {
    await sql`LOCK TABLE worker_processes IN ACCESS EXCLUSIVE MODE`.execute(trx);
    return read();
  });
  expect(sumOf(samples, 'inlet_database_up')).toBe(1);
  const names = samples.map(({ name }) => name);
  expect(names).not.toContain('inlet_workers');
  expect(names).toEqual(expect.arrayContaining(['inlet_ready_operations', 'inlet_database_bytes']));
});
