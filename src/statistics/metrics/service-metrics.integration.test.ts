import { sql } from 'kysely';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { changeWebhook, createWebhook, insertTest } from '#notifications/webhooks/webhooks.queries.ts';
import type { WorkQueue } from '#platform/queue/work-queue.ts';
import { silentLogger } from '#platform/telemetry/log.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/database.ts';
import { eventually } from '#test/support/eventually.ts';
import { type Sample, samplesOf, sumOf } from '#test/support/exposition.ts';
import { startTestWorkflow } from '#test/support/workflows.ts';
import { ServiceMetrics } from './service-metrics.ts';

const queue = { check: async () => undefined, queues: () => [] } as unknown as WorkQueue;

let db: TestDatabase;
beforeEach(async () => {
  db = await createTestDatabase();
});
afterEach(() => db?.close());

/** On a busy machine no time may be left for the last figure. */
async function read(): Promise<Sample[]> {
  const { database } = db;
  return eventually(async () => {
    const metrics = new ServiceMetrics({ database, vital: database, queue, log: silentLogger });
    const samples = samplesOf(await metrics.text());
    expect(samples.map(({ name }) => name)).toContain('inlet_database_bytes');
    return samples;
  });
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

test('nor does an operation of which nobody knows since when it is ready', async () => {
  await startTestWorkflow(db.database);
  await sql`UPDATE workflow_operations SET lane = 'heavy', ready_at = NULL, not_before = '-infinity'
    WHERE state = 'ready'`.execute(db.database);
  const samples = await read();
  expect(sumOf(samples, 'inlet_ready_operations', { lane: 'heavy' })).toBe(1);
  expect(sumOf(samples, 'inlet_oldest_ready_operation_seconds', { lane: 'heavy' })).toBe(0);
});

test('messages count from when they were made, whenever they are tried again, of active webhooks alone', async () => {
  const [tried, paused] = [await webhook(), await webhook()];
  await insertTest(db.database, tried);
  await sql`UPDATE webhook_deliveries SET state = 'parked', ended_at = now()`.execute(db.database);
  for (const id of [tried, paused]) {
    await sql`INSERT INTO webhook_deliveries (webhook_id, order_key, message_id, kind, body, state, created_at, next_at)
      SELECT ${id}::bigint, 'event ' || n, 'msg_' || ${id}::text || '_' || n, 'event.changed', '{}',
        CASE n WHEN 1 THEN 'pending' ELSE 'parked' END, now() - interval '2 hours', now() + interval '1 hour'
      FROM generate_series(1, 3) AS n`.execute(db.database);
  }
  await changeWebhook(db.database, paused, { active: false });
  const samples = await read();
  expect(sumOf(samples, 'inlet_webhook_messages', { state: 'pending' })).toBe(1);
  expect(sumOf(samples, 'inlet_webhook_messages', { state: 'parked' })).toBe(2);
  expect(sumOf(samples, 'inlet_oldest_webhook_message_seconds')).toBeCloseTo(7200, -2);
});

test.each([
  ['cannot be read', 'ALTER TABLE storage_sizes RENAME TO elsewhere', 'inlet_stored_bytes', 'inlet_workers'],
  ['takes too long', 'LOCK TABLE worker_processes', 'inlet_workers', 'inlet_stored_bytes'],
])('a figure that %s is left out alone, and the database is up', async (_, statement, missing, other) => {
  const samples = await db.database.transaction().execute(async (trx) => {
    await sql.raw(statement).execute(trx);
    return read();
  });
  expect(sumOf(samples, 'inlet_database_up')).toBe(1);
  const names = samples.map(({ name }) => name);
  expect(names).not.toContain(missing);
  expect(names).toEqual(expect.arrayContaining([other, 'inlet_ready_operations', 'inlet_database_bytes']));
});
