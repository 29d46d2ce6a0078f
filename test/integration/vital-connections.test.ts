import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestApp, type TestApp } from '../support/app.ts';
import { eventually } from '../support/eventually.ts';

let app: TestApp;
beforeAll(async () => {
  app = await createTestApp();
});
afterAll(() => app?.close());

/** Each part has two seconds to answer, which a busy machine may take. */
const isReady = () => eventually(async () => expect((await app.anonymous('/health/ready')).status).toBe(200));

/** Holds every connection that requests have, as many transactions that wait do. @returns what gives them back */
async function useUpConnections(): Promise<() => Promise<void>> {
  const { database, config } = app.context;
  const held = await Promise.all(
    Array.from({ length: 10 + config.workerConcurrency * 2 }, () => database.startTransaction().execute()),
  );
  return async () => {
    await Promise.all(held.map((trx) => trx.rollback().execute()));
  };
}

test('while requests hold every connection, checks are answered and leases renewed', async () => {
  const { staging } = app.context;
  const key = await staging.stage('track');
  await app.database
    .updateTable('staging')
    .set({ expires_at: new Date(0) })
    .where('object_key', '=', key)
    .execute();
  const giveBack = await useUpConnections();
  try {
    await isReady();
    await staging.renew();
  } finally {
    await giveBack();
  }
  const { expires_at } = await app.database
    .selectFrom('staging')
    .select('expires_at')
    .where('object_key', '=', key)
    .executeTakeFirstOrThrow();
  expect(expires_at.getTime()).toBeGreaterThan(Date.now());
});

test('a loop that hangs makes its process unready', async () => {
  let runningMs = 1_000;
  app.context.pulse.watch({ name: 'relay', runningMs: () => runningMs });
  await isReady();
  runningMs = 600_000;
  await eventually(async () => {
    const answer = await app.anonymous('/health/ready');
    expect(answer.status).toBe(503);
    expect(await answer.json()).toMatchObject({
      ...{ status: 'unavailable', database: 'ok', worker: 'unavailable' },
    });
  });
});
