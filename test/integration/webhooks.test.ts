import { once } from 'node:events';
import { sql } from 'kysely';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { recordChanges } from '../../src/changes/record.ts';
import type { NamedHost } from '../../src/config/kinds.ts';
import type { Transaction } from '../../src/database/kysely.ts';
import { silentLogger } from '../../src/telemetry/log.ts';
import { parkHopeless, sweepDeliveries, takeDue } from '../../src/webhooks/deliveries.ts';
import { fanOut } from '../../src/webhooks/fan-out.ts';
import { insertTest } from '../../src/webhooks/queries.ts';
import { startWebhooks } from '../../workers/webhooks.ts';
import { createTestApp, type TestApp } from '../support/app.ts';
import { eventually } from '../support/eventually.ts';
import { loggedDatabase } from '../support/logged-database.ts';
import { costsOf } from '../support/plans.ts';
import { send } from '../support/series.ts';
import { WebhookReceiver } from '../support/webhook-receiver.ts';

let app: TestApp;
let receiver: WebhookReceiver;
let part: ReturnType<typeof startWebhooks> | undefined;
beforeAll(async () => {
  app = await createTestApp(undefined, { WEBHOOK_HOSTS: '127.0.0.1' });
});
afterAll(() => app?.close());
beforeEach(async () => {
  receiver = await WebhookReceiver.open();
});
afterEach(async () => {
  receiver.close();
  await part?.close();
  part = undefined;
  await app.database.deleteFrom('webhooks').execute();
});

const start = (hosts: NamedHost[] = [{ host: '127.0.0.1', port: Number(new URL(receiver.url).port) }]) => {
  const { database } = app;
  part = startWebhooks({ notifications: app.context.notifications, database, hosts, log: silentLogger });
};

async function add(fields: Record<string, string> = {}) {
  const answer = await send(app, 'POST', '/api/webhooks', {
    url: receiver.url,
    secret: receiver.secret,
    ...fields,
  });
  expect(answer.status, answer.text).toBe(201);
  return JSON.parse(answer.text).identifier as number;
}

const tell = (eventId: string, n: number) =>
  app.database
    .transaction()
    .execute((trx) => recordChanges(trx, [{ kind: 'event.changed', eventId, actor: 'ada', data: { n } }]));
const numbers = (of: WebhookReceiver, event: string) =>
  of.received.filter(({ body }) => body.data.event === event).map(({ body }) => body.data.n);
const deliveries = (id: number) =>
  app.database
    .selectFrom('webhook_deliveries')
    .selectAll()
    .where('webhook_id', '=', id)
    .orderBy('id')
    .execute();
/** As if the pauses of all that wait were over. */
const hurry = () =>
  sql`UPDATE webhook_deliveries SET next_at = now() WHERE next_at < 'infinity' AND state = 'pending'`
    .execute(app.database)
    .then(() => sql`UPDATE webhooks SET paused_until = '-infinity'`.execute(app.database));

describe('a webhook', () => {
  test('is told of what happens after it was added, signed by the scheme, with who did it', async () => {
    await tell('before', 0);
    const id = await add();
    start();
    await tell('event-1', 1);
    await eventually(() => expect(receiver.received).toHaveLength(1));
    const [message] = receiver.received;
    expect(message?.body).toMatchObject({
      type: 'event.changed',
      data: { event: 'event-1', n: 1, by: 'ada' },
    });
    expect(message?.headers).toMatchObject({ 'content-type': 'application/json', 'user-agent': 'Inlet' });
    expect(message?.id).toMatch(new RegExp(`^msg_${id}_\\d+$`));
    await eventually(async () =>
      expect(await deliveries(id)).toMatchObject([{ state: 'delivered', attempts: 1 }]),
    );
  });

  test('is told of nothing that its filter leaves out', async () => {
    await add({ filter: 'event:wanted' });
    start();
    await tell('other', 1);
    await tell('wanted', 2);
    await eventually(() => expect(receiver.received).toHaveLength(1));
    expect(numbers(receiver, 'wanted')).toEqual([2]);
  });

  test('is told in order of each event, however often a message fails, and of other events meanwhile', async () => {
    let failing = true;
    receiver.answer = (message, response) => {
      const fails = failing && message.body.data.event === 'slow' && message.body.data.n === 1;
      response.writeHead(fails ? 503 : 200).end('whatever');
    };
    const id = await add();
    start();
    for (let n = 0; n < 4; n += 1) for (const event of ['slow', 'quick']) await tell(event, n);
    await eventually(() => expect(numbers(receiver, 'quick')).toEqual([0, 1, 2, 3]));
    // On a busy machine a pause may be over before anybody has looked: there may be more attempts than were hurried.
    const attempts = (least: number) =>
      eventually(async () => expect((await deliveries(id))[2]?.attempts).toBeGreaterThanOrEqual(least));
    const slow = () => numbers(receiver, 'slow').filter((n, i, all) => n !== all[i - 1]);
    await attempts(1);
    expect(slow()).toEqual([0, 1]);
    await hurry();
    await attempts(2);
    expect(slow()).toEqual([0, 1]);
    failing = false;
    await eventually(async () => {
      await hurry();
      expect(slow()).toEqual([0, 1, 2, 3]);
    });
    const ids = receiver.received.filter(({ body }) => body.data.n === 1 && body.data.event === 'slow');
    expect(new Set(ids.map((message) => message.id)).size).toBe(1);
    await eventually(async () => {
      const each = (await deliveries(id)).map(({ attempts }) => attempts).toSorted((a, b) => a - b);
      expect(each.slice(0, -1)).toEqual(Array(7).fill(1));
      expect(each.at(-1)).toBeGreaterThanOrEqual(3);
    });
  });

  test('does not lose or double a message when a process dies between reading the log and committing', async () => {
    const id = await add();
    for (let n = 0; n < 5; n += 1) await tell('event-2', n);
    const broken = new Proxy(app.database, {
      get: (database, name) => {
        const value = Reflect.get(database, name, database);
        if (name !== 'transaction') return typeof value === 'function' ? value.bind(database) : value;
        const execute = (work: (trx: Transaction) => Promise<unknown>) =>
          database.transaction().execute(async (trx) => {
            await work(trx);
            throw new Error('killed');
          });
        return () => ({ execute });
      },
    });
    await expect(fanOut(broken)).rejects.toThrow('killed');
    expect(await deliveries(id)).toEqual([]);
    await Promise.all([fanOut(app.database), fanOut(app.database), fanOut(app.database)]);
    expect(await deliveries(id)).toHaveLength(5);
    start();
    await eventually(() => expect(numbers(receiver, 'event-2')).toEqual([0, 1, 2, 3, 4]));
  });

  test('is told again under the same identifier when a process dies with the answer', async () => {
    const id = await add();
    await tell('event-3', 1);
    await fanOut(app.database);
    await sql`UPDATE webhook_deliveries SET taken_until = now() - interval '1 second', token = token + 1`.execute(
      app.database,
    );
    start();
    await eventually(async () => expect(await deliveries(id)).toMatchObject([{ state: 'delivered' }]));
  });

  test('a message is parked after three days, and the next one follows; it can be sent again', async () => {
    let failing = true;
    receiver.answer = (_, response) => void response.writeHead(failing ? 500 : 204).end();
    const id = await add();
    start();
    await tell('event-4', 1);
    await tell('event-4', 2);
    await eventually(async () => expect((await deliveries(id))[0]?.attempts).toBeGreaterThan(0));
    await sql`UPDATE webhook_deliveries SET created_at = now() - interval '73 hours' WHERE id = (
      SELECT min(id) FROM webhook_deliveries WHERE webhook_id = ${id})`.execute(app.database);
    await eventually(async () => {
      await hurry();
      expect((await deliveries(id)).map(({ state }) => state)).toEqual(['parked', 'pending']);
    });
    failing = false;
    await hurry();
    await eventually(async () => {
      await hurry();
      expect((await deliveries(id)).map(({ state }) => state)).toEqual(['parked', 'delivered']);
    });
    const parked = await send(app, 'GET', `/api/webhooks/${id}/deliveries?filter=state:parked`);
    const [delivery] = JSON.parse(parked.text);
    expect(delivery).toMatchObject({
      ...{ state: 'parked', status: 500, error: 'The receiver answered with the status 500.' },
    });
    const path = `/api/webhooks/${id}/deliveries/${delivery.identifier}`;
    expect((await send(app, 'POST', path, { state: 'retry' })).status).toBe(204);
    await eventually(() => expect(numbers(receiver, 'event-4').at(-1)).toBe(1));
    expect((await send(app, 'POST', path, { state: 'retry' })).status).toBe(404);
  });

  test('that says 410 is told no more', async () => {
    receiver.answer = (_, response) => void response.writeHead(410).end();
    const id = await add();
    start();
    await tell('event-5', 1);
    await eventually(async () => {
      const { text } = await send(app, 'GET', `/api/webhooks/${id}`);
      expect(JSON.parse(text)).toMatchObject({
        ...{ active: false, failures: 1, last_error: 'The receiver answered with the status 410.' },
      });
    });
  });

  test('is not followed to where it redirects', async () => {
    const other = await WebhookReceiver.open();
    receiver.answer = (_, response) => void response.writeHead(307, { Location: other.url }).end();
    const id = await add();
    start();
    await tell('event-6', 1);
    await eventually(async () =>
      expect(await deliveries(id)).toMatchObject([{ last_status: 307, state: 'pending' }]),
    );
    expect(other.received).toEqual([]);
    other.close();
  });

  test('that takes no message holds up no other one, and is asked ever less often', async () => {
    const other = await WebhookReceiver.open();
    let [open, most] = [0, 0];
    receiver.answer = async (_, response) => {
      open += 1;
      most = Math.max(most, open);
      await once(response, 'close');
      open -= 1;
    };
    const dead = await add({ url: 'http://127.0.0.1:1/nobody' });
    await add();
    const quick = await add({ url: other.url });
    start([{ host: '127.0.0.1', port: undefined }]);
    const changes = Array.from({ length: 100 }, (_, n) => ({
      ...{ kind: 'event.changed' as const, eventId: `event-${n}-x`, actor: 'ada', data: { n } },
    }));
    await app.database.transaction().execute((trx) => recordChanges(trx, changes));
    await eventually(() => expect(other.received).toHaveLength(100), 60_000);
    // Those that were not answered in time are followed by others.
    expect(most).toBeLessThanOrEqual(8);
    await eventually(async () => {
      const rows = await deliveries(dead);
      expect(rows.filter(({ attempts }) => attempts > 0).length).toBeGreaterThan(4);
      expect(rows.filter(({ attempts }) => attempts > 0).length).toBeLessThan(20);
    });
    await eventually(async () =>
      expect((await deliveries(quick)).every(({ state }) => state === 'delivered')).toBe(true),
    );
    other.close();
  });

  test.each([
    ['http://127.0.0.1:9/hook', 'private'],
    ['http://[::1]/hook', 'private'],
    ['http://169.254.169.254/latest', 'private'],
    ['http://10.1.2.3/', 'private'],
    ['http://localhost/hook', 'private'],
    ['ftp://example.org/', 'must begin with'],
    ['https://user:pass@example.org/', 'must have no user'],
    ['nothing', 'is none'],
    ['', 'is none'],
  ])('at %j is refused with 400', async (url, reason) => {
    const bare = await createTestApp();
    try {
      const { status, text } = await send(bare, 'POST', '/api/webhooks', { url });
      expect(status).toBe(400);
      expect(text).toContain("The form parameter 'url' is no address that can be told");
      expect(text).toContain(reason);
    } finally {
      await bare.close();
    }
  });

  test('is not reached at a name that leads to a private address, unless that name is one of WEBHOOK_HOSTS', async () => {
    const { port } = new URL(receiver.url);
    const id = await add();
    await app.database
      .updateTable('webhooks')
      .set({ url: `http://localhost:${port}/hook` })
      .where('id', '=', id)
      .execute();
    start([]);
    await tell('event-7', 1);
    await eventually(async () => {
      const [row] = await deliveries(id);
      expect(row?.last_error).toContain('neither public nor named in WEBHOOK_HOSTS');
    });
    expect(receiver.received).toEqual([]);
    await part?.close();
    start([{ host: 'localhost', port: Number(port) }]);
    await hurry();
    await eventually(() => expect(numbers(receiver, 'event-7')).toEqual([1]));
  });
});

describe('the API of webhooks', () => {
  test('shows a secret that was made up once, and never one that was given', async () => {
    const made = await send(app, 'POST', '/api/webhooks', { url: 'https://lms.example.org/hook' });
    const { identifier, secret } = JSON.parse(made.text);
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    const given = await send(app, 'POST', '/api/webhooks', { url: receiver.url, secret: receiver.secret });
    for (const path of ['/api/webhooks', `/api/webhooks/${identifier}`]) {
      const { text } = await send(app, 'GET', path);
      expect(text).not.toContain(secret);
    }
    expect(given.text).not.toContain('secret');
    expect((await send(app, 'PUT', `/api/webhooks/${identifier}`, { secret: 'whsec_short' })).status).toBe(
      400,
    );
  });

  test('changes, deactivates and deletes one', async () => {
    const id = await add();
    const changed = await send(app, 'PUT', `/api/webhooks/${id}`, { active: 'false', filter: 'kind:event' });
    expect(JSON.parse(changed.text)).toMatchObject({ identifier: id, active: false, filter: 'kind:event' });
    expect((await send(app, 'PUT', `/api/webhooks/${id}`, { active: 'perhaps' })).status).toBe(400);
    expect((await send(app, 'PUT', `/api/webhooks/${id}`, { filter: 'colour:red' })).status).toBe(400);
    expect((await send(app, 'DELETE', `/api/webhooks/${id}`)).status).toBe(204);
    for (const method of ['GET', 'PUT', 'DELETE'])
      expect((await send(app, method, `/api/webhooks/${id}`)).status).toBe(404);
  });

  test('whose trial is under way when it is deleted is told to be missing', async () => {
    const id = await add();
    const tried = send(app, 'POST', `/api/webhooks/${id}/test`);
    await eventually(async () => {
      const waiting = await app.database.selectFrom('webhook_deliveries').select('id').execute();
      expect(waiting.length).toBeGreaterThan(0);
    });
    expect((await send(app, 'DELETE', `/api/webhooks/${id}`)).status).toBe(204);
    expect((await tried).status).toBe(404);
  });

  test('tries one out and says what came of it', async () => {
    const id = await add();
    start();
    const sound = await send(app, 'POST', `/api/webhooks/${id}/test`);
    expect(JSON.parse(sound.text)).toMatchObject({
      kind: 'webhook.test',
      state: 'delivered',
      attempts: 1,
      status: 204,
    });
    receiver.answer = (_, response) => void response.writeHead(418).end();
    const broken = await send(app, 'POST', `/api/webhooks/${id}/test`);
    expect(JSON.parse(broken.text)).toMatchObject({ state: 'parked', status: 418 });
  });

  test('tries out one that is told nothing else, at once', async () => {
    const id = await add();
    await send(app, 'PUT', `/api/webhooks/${id}`, { active: 'false' });
    await app.database.updateTable('webhooks').set({ failures: 9 }).where('id', '=', id).execute();
    start();
    const { text } = await send(app, 'POST', `/api/webhooks/${id}/test`);
    expect(JSON.parse(text)).toMatchObject({ state: 'delivered' });
  });

  test('tells nothing of what happened while one was not active', async () => {
    const id = await add();
    await send(app, 'PUT', `/api/webhooks/${id}`, { active: 'false' });
    await tell('event-9', 1);
    await send(app, 'PUT', `/api/webhooks/${id}`, { active: 'true' });
    start();
    await tell('event-9', 2);
    await eventually(() => expect(numbers(receiver, 'event-9')).toEqual([2]));
  });

  test('gives up in one go what waits for an address that has been dead for days', async () => {
    const id = await add({ url: 'http://127.0.0.1:1/nobody' });
    for (let n = 0; n < 3; n += 1) await tell('event-10', n);
    await fanOut(app.database);
    await sql`UPDATE webhook_deliveries SET created_at = now() - interval '5 days'
      WHERE id < (SELECT max(id) FROM webhook_deliveries)`.execute(app.database);
    expect(await parkHopeless(app.database)).toBe(2);
    const rows = await deliveries(id);
    expect(rows.map(({ state }) => state)).toEqual(['parked', 'parked', 'pending']);
    const due = sql<{
      due: boolean;
    }>`SELECT next_at <= now() AS due FROM webhook_deliveries WHERE state = 'pending'`;
    expect((await due.execute(app.database)).rows).toEqual([{ due: true }]);
  });

  test('forgets what ended long ago, what was parked later, and all of it in one go', async () => {
    const id = await add();
    await sql`INSERT INTO webhook_deliveries (webhook_id, message_id, kind, body, order_key, state, ended_at)
      SELECT ${id}, 'swept_' || state || days || '_' || n, 'event.changed', '{}', 'event x', state,
        now() - make_interval(days => days)
      FROM (VALUES ('delivered', 31, 12000), ('delivered', 29, 1), ('parked', 89, 2), ('parked', 91, 6000))
        AS ended (state, days, count), generate_series(1, count) AS n`.execute(app.database);
    expect(await sweepDeliveries(app.database, 30)).toBe(18_000);
    const kept = (await deliveries(id)).map(({ state }) => state);
    expect(kept.toSorted()).toEqual(['delivered', 'parked', 'parked']);
  });

  test('finds what ended long ago without reading what stays', async () => {
    const id = await add();
    await sql`INSERT INTO webhook_deliveries (webhook_id, message_id, kind, body, order_key, state, ended_at)
      SELECT ${id}, 'staying_' || state || '_' || n, 'event.changed', '{}', 'event x', state,
        now() - make_interval(days => days)
      FROM (VALUES ('delivered', 1), ('parked', 60)) AS ended (state, days), generate_series(1, 20000) AS n`.execute(
      app.database,
    );
    await sql`VACUUM ANALYZE webhook_deliveries`.execute(app.database);
    const logged = loggedDatabase(app.context.databaseUrl);
    try {
      const { touched, plan } = await costsOf(logged, (db) => sweepDeliveries(db, 30));
      expect(logged.queries).not.toEqual([]);
      expect(touched, plan).toBeLessThan(100);
    } finally {
      await logged.database.destroy();
    }
  });

  test('makes fewer messages at a time the more want to hear of everything', async () => {
    const add200 = sql`INSERT INTO webhooks (url, secret, since)
      SELECT 'http://127.0.0.1:1/', 'whsec_x', last FROM changes_counter, generate_series(1, 200)`;
    await add200.execute(app.database);
    const changes = Array.from({ length: 150 }, (_, n) => ({
      ...{ kind: 'event.changed' as const, eventId: `event-${n}`, data: {} },
    }));
    await app.database.transaction().execute((trx) => recordChanges(trx, changes));
    expect(await fanOut(app.database)).toBe(30_000);
    const { rows } = await sql<{
      made: number;
    }>`SELECT count(*) AS made FROM webhook_deliveries GROUP BY xmin ORDER BY 1 DESC`.execute(app.database);
    expect(rows.map(({ made }) => Number(made))).toEqual([20_000, 10_000]);
  });

  test('takes what is due for one that has nothing under way before more for one that has', async () => {
    const busy = await add({ filter: 'event:busy-0,event:busy-1,event:busy-2' });
    for (let n = 0; n < 3; n += 1) await tell(`busy-${n}`, n);
    await fanOut(app.database);
    expect((await takeDue(app.database, 2)).map(({ webhookId }) => webhookId)).toEqual([busy, busy]);
    const idle = await add({ filter: 'event:idle' });
    await tell('idle', 1);
    await fanOut(app.database);
    await insertTest(app.database, busy);
    expect(await takeDue(app.database, 1)).toMatchObject([{ webhookId: busy, kind: 'webhook.test' }]);
    expect((await takeDue(app.database, 1)).map(({ webhookId }) => webhookId)).toEqual([idle]);
    expect((await takeDue(app.database, 9)).map(({ webhookId }) => webhookId)).toEqual([busy]);
  });

  test('deletes the messages of one a few thousand at a time', async () => {
    const id = await add();
    await sql`INSERT INTO webhook_deliveries (webhook_id, message_id, kind, body, order_key)
      SELECT ${id}, 'many_' || n, 'event.changed', '{}', 'event x' FROM generate_series(1, 12000) AS n`.execute(
      app.database,
    );
    await sql`CREATE TABLE removed (count bigint);
      CREATE FUNCTION count_removed() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN INSERT INTO removed SELECT count(*) FROM gone; RETURN NULL; END $$;
      CREATE TRIGGER count_removed AFTER DELETE ON webhook_deliveries REFERENCING OLD TABLE AS gone
      FOR EACH STATEMENT EXECUTE FUNCTION count_removed()`.execute(app.database);
    try {
      expect((await send(app, 'DELETE', `/api/webhooks/${id}`)).status).toBe(204);
      expect(await deliveries(id)).toEqual([]);
      const { rows } = await sql<{ most: string; all: string }>`
        SELECT max(count) AS most, sum(count) AS all FROM removed`.execute(app.database);
      expect(Number(rows[0]?.all)).toBe(12_000);
      expect(Number(rows[0]?.most)).toBeLessThanOrEqual(5_000);
    } finally {
      await sql`DROP TABLE removed; DROP FUNCTION count_removed CASCADE`.execute(app.database);
    }
    expect((await send(app, 'DELETE', `/api/webhooks/${id}`)).status).toBe(404);
  });

  test('is for administrators only', async () => {
    const Authorization = await app.account('manager', 'ROLE_API', 'ROLE_API_EVENTS_VIEW');
    const answer = await app.request('/api/webhooks', { headers: { Authorization } });
    expect(answer.status).toBe(403);
  });
});
