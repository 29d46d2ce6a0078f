import { once } from 'node:events';
import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { fanOut } from '#notifications/webhooks/fan-out.ts';
import { sweepDeliveries } from '#notifications/webhooks/webhook-deliveries.ts';
import { ownApp } from '../support/app.ts';
import { eventually } from '../support/eventually.ts';
import { loggedDatabase } from '../support/logged-database.ts';
import { costsOf } from '../support/plans.ts';
import { send } from '../support/series.ts';
import { WebhookReceiver, webhooksOf } from '../support/webhook-receiver.ts';

const app = await ownApp(undefined, { WEBHOOK_HOSTS: '127.0.0.1' });
const { database } = app;
const hooks = webhooksOf(app);
const { start, add, change, deliveries } = hooks;

test('one that takes no message holds up no other one, and is asked ever less often', async () => {
  const other = await WebhookReceiver.open();
  let [open, most] = [0, 0];
  hooks.receiver.answer = async (_, response) => {
    open += 1;
    most = Math.max(most, open);
    await once(response, 'close');
    open -= 1;
  };
  const dead = await add({ url: 'http://127.0.0.1:1/nobody' });
  await add();
  const quick = await add({ url: other.url });
  start([{ host: '127.0.0.1', port: undefined }]);
  await change(...Array.from({ length: 100 }, (_, n): [string, number] => [`event-${n}-x`, n]));
  await eventually(() => expect(other.received).toHaveLength(100), 60_000);
  // Those that were not answered in time are followed by others.
  expect(most).toBeLessThanOrEqual(8);
  await eventually(async () => {
    const tried = (await deliveries(dead)).filter(({ attempts }) => attempts > 0);
    expect(tried.length).toBeGreaterThan(4);
    expect(tried.length).toBeLessThan(20);
  });
  await eventually(async () => {
    const states = (await deliveries(quick)).map(({ state }) => state);
    expect(new Set(states)).toEqual(new Set(['delivered']));
  });
  other.close();
});

/** Adds so many messages, which ended so many days ago. */
const addEnded = (id: number, ended: [state: string, days: number, count: number][]) =>
  sql`INSERT INTO webhook_deliveries (webhook_id, message_id, kind, body, order_key, state, ended_at)
    SELECT ${id}, 'ended_' || state || days || '_' || n, 'event.changed', '{}', 'event x', state,
      now() - make_interval(days => days)
    FROM jsonb_to_recordset(${JSON.stringify(ended.map(([state, days, count]) => ({ state, days, count })))}::jsonb)
      AS ended (state text, days int, count int), generate_series(1, count) AS n`.execute(database);

test('thousands that ended long ago are forgotten in one go', async () => {
  const id = await add();
  await addEnded(id, [
    ['delivered', 31, 12_000],
    ['delivered', 29, 1],
    ['parked', 89, 2],
    ['parked', 91, 6_000],
  ]);
  expect(await sweepDeliveries(database, 30)).toBe(18_000);
  const kept = (await deliveries(id)).map(({ state }) => state);
  expect(kept.toSorted()).toEqual(['delivered', 'parked', 'parked']);
});

test('what ended long ago is found without reading what stays', async () => {
  const id = await add();
  await addEnded(id, [
    ['delivered', 1, 20_000],
    ['parked', 60, 20_000],
  ]);
  await sql`VACUUM ANALYZE webhook_deliveries`.execute(database);
  const logged = loggedDatabase(app.context.databaseUrl);
  try {
    const { touched, plan } = await costsOf(logged, (db) => sweepDeliveries(db, 30));
    expect(logged.queries).not.toEqual([]);
    expect(touched, plan).toBeLessThan(100);
  } finally {
    await logged.database.destroy();
  }
});

test('fewer messages are made at a time the more want to hear of everything', async () => {
  await sql`INSERT INTO webhooks (url, secret, since)
    SELECT 'http://127.0.0.1:1/', 'whsec_x', last FROM changes_counter, generate_series(1, 200)`.execute(database);
  await change(...Array.from({ length: 150 }, (_, n): [string, number] => [`event-${n}`, n]));
  expect(await fanOut(database)).toBe(30_000);
  const { rows } = await sql<{
    made: number;
  }>`SELECT count(*) AS made FROM webhook_deliveries GROUP BY xmin ORDER BY 1 DESC`.execute(database);
  expect(rows.map(({ made }) => Number(made))).toEqual([20_000, 10_000]);
});

test('the messages of one are deleted a few thousand at a time', async () => {
  const id = await add();
  await sql`INSERT INTO webhook_deliveries (webhook_id, message_id, kind, body, order_key)
    SELECT ${id}, 'many_' || n, 'event.changed', '{}', 'event x' FROM generate_series(1, 12000) AS n`.execute(database);
  await sql`CREATE TABLE removed (count bigint);
    CREATE FUNCTION count_removed() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN INSERT INTO removed SELECT count(*) FROM gone; RETURN NULL; END $$;
    CREATE TRIGGER count_removed AFTER DELETE ON webhook_deliveries REFERENCING OLD TABLE AS gone
    FOR EACH STATEMENT EXECUTE FUNCTION count_removed()`.execute(database);
  try {
    expect((await send(app, 'DELETE', `/api/webhooks/${id}`)).status).toBe(204);
    expect(await deliveries(id)).toEqual([]);
    const { rows } = await sql<{ most: string; all: string }>`
      SELECT max(count) AS most, sum(count) AS all FROM removed`.execute(database);
    expect(Number(rows[0]?.all)).toBe(12_000);
    expect(Number(rows[0]?.most)).toBeLessThanOrEqual(5_000);
  } finally {
    await sql`DROP TABLE removed; DROP FUNCTION count_removed CASCADE`.execute(database);
  }
  expect((await send(app, 'DELETE', `/api/webhooks/${id}`)).status).toBe(404);
});
