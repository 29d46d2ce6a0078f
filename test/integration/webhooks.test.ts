import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import { DELIVERIES_CHANNEL, fanOut } from '#notifications/webhooks/fan-out.ts';
import {
  claimDueDeliveries,
  parkExpiredDeliveries,
  sweepDeliveries,
} from '#notifications/webhooks/webhook-deliveries.ts';
import { insertTest } from '#notifications/webhooks/webhooks.queries.ts';
import type { Transaction } from '#platform/database/kysely.ts';
import { ownApp, workerApp } from '../support/app.ts';
import { eventually } from '../support/eventually.ts';
import { send } from '../support/series.ts';
import { WebhookReceiver, webhooksOf } from '../support/webhook-receiver.ts';

// Every webhook of an application gets every change of it.
const app = await ownApp(undefined, { WEBHOOK_HOSTS: '127.0.0.1' });
const { database } = app;
const hooks = webhooksOf(app);
const { start, add, change, deliveries } = hooks;

const numbers = (event: string) =>
  hooks.receiver.received.filter(({ body }) => body.data.event === event).map(({ body }) => body.data.n);
const expectNumbers = (event: string, expected: number[]) => eventually(() => expect(numbers(event)).toEqual(expected));
const states = async (id: number) => (await deliveries(id)).map(({ state }) => state);
const answerWith = (status: () => number, headers: Record<string, string> = {}) => {
  hooks.receiver.answer = (_, response) => void response.writeHead(status(), headers).end();
};

/** Ends the pauses of all that wait, and says so. */
async function hurry(): Promise<void> {
  await database
    .updateTable('webhook_deliveries')
    .set({ next_at: sql`now()` })
    .where('state', '=', 'pending')
    .where('next_at', '<', sql<Date>`'infinity'`)
    .execute();
  await sql`UPDATE webhooks SET paused_until = '-infinity'`.execute(database);
  await sql`SELECT pg_notify(${DELIVERIES_CHANNEL}, '')`.execute(database);
}

describe('a webhook', () => {
  test('is told of what happens after it was added, signed by the scheme, with who did it', async () => {
    await change(['before', 0]);
    const id = await add();
    start();
    await change(['event-1', 1]);
    await eventually(() => expect(hooks.receiver.received).toHaveLength(1));
    const [message] = hooks.receiver.received;
    expect(message?.body).toMatchObject({
      ...{ type: 'event.changed', data: { event: 'event-1', n: 1, by: 'ada' } },
    });
    expect(message?.headers).toMatchObject({ 'content-type': 'application/json', 'user-agent': 'Inlet' });
    expect(message?.id).toMatch(new RegExp(`^msg_${id}_\\d+$`));
    await eventually(async () => expect(await deliveries(id)).toMatchObject([{ state: 'delivered', attempts: 1 }]));
  });

  test('is told of nothing that its filter leaves out', async () => {
    await add({ filter: 'event:wanted' });
    start();
    await change(['other', 1], ['wanted', 2]);
    await eventually(() => expect(hooks.receiver.received).toHaveLength(1));
    expect(numbers('wanted')).toEqual([2]);
  });

  test('is told in order of each event, however often a message fails, and of other events meanwhile', async () => {
    let failing = true;
    hooks.receiver.answer = (message, response) => {
      const fails = failing && message.body.data.event === 'slow' && message.body.data.n === 1;
      response.writeHead(fails ? 503 : 200).end('whatever');
    };
    const id = await add();
    start();
    for (let n = 0; n < 4; n += 1) await change(['slow', n], ['quick', n]);
    await expectNumbers('quick', [0, 1, 2, 3]);
    // On a busy machine a pause may be over before anybody has looked: there may be more attempts than were hurried.
    const expectAttempts = (least: number) =>
      eventually(async () => expect((await deliveries(id))[2]?.attempts).toBeGreaterThanOrEqual(least));
    const slow = () => numbers('slow').filter((n, i, all) => n !== all[i - 1]);
    await expectAttempts(1);
    expect(slow()).toEqual([0, 1]);
    await hurry();
    await expectAttempts(2);
    expect(slow()).toEqual([0, 1]);
    failing = false;
    await eventually(async () => {
      await hurry();
      expect(slow()).toEqual([0, 1, 2, 3]);
    });
    const ids = hooks.receiver.received
      .filter(({ body }) => body.data.n === 1 && body.data.event === 'slow')
      .map((message) => message.id);
    expect(new Set(ids).size).toBe(1);
    await eventually(async () => {
      const each = (await deliveries(id)).map(({ attempts }) => attempts).toSorted((a, b) => a - b);
      expect(each.slice(0, -1)).toEqual(Array(7).fill(1));
      expect(each.at(-1)).toBeGreaterThanOrEqual(3);
    });
  });

  test('does not lose or double a message when a process dies between reading the log and committing', async () => {
    const id = await add();
    for (let n = 0; n < 5; n += 1) await change(['event-2', n]);
    const broken = new Proxy(database, {
      get: (target, name) => {
        const value = Reflect.get(target, name, target);
        if (name !== 'transaction') return typeof value === 'function' ? value.bind(target) : value;
        const execute = (work: (trx: Transaction) => Promise<unknown>) =>
          target.transaction().execute(async (trx) => {
            await work(trx);
            throw new Error('killed');
          });
        return () => ({ execute });
      },
    });
    await expect(fanOut(broken)).rejects.toThrow('killed');
    expect(await deliveries(id)).toEqual([]);
    await Promise.all([fanOut(database), fanOut(database), fanOut(database)]);
    expect(await deliveries(id)).toHaveLength(5);
    start();
    await expectNumbers('event-2', [0, 1, 2, 3, 4]);
  });

  test('is told again under the same identifier when a process dies with the answer', async () => {
    const id = await add();
    await change(['event-3', 1]);
    await fanOut(database);
    await sql`UPDATE webhook_deliveries SET taken_until = now() - interval '1 second', token = token + 1`.execute(
      database,
    );
    start();
    await eventually(async () => expect(await states(id)).toEqual(['delivered']));
  });

  test('a message is parked after three days, and the next one follows; it can be sent again', async () => {
    let status = 500;
    answerWith(() => status);
    const id = await add();
    start();
    await change(['event-4', 1], ['event-4', 2]);
    await eventually(async () => expect((await deliveries(id))[0]?.attempts).toBeGreaterThan(0));
    await sql`UPDATE webhook_deliveries SET created_at = now() - interval '73 hours' WHERE id = (
      SELECT min(id) FROM webhook_deliveries WHERE webhook_id = ${id})`.execute(database);
    const expectStates = (...expected: string[]) =>
      eventually(async () => {
        await hurry();
        expect(await states(id)).toEqual(expected);
      });
    await expectStates('parked', 'pending');
    status = 204;
    await expectStates('parked', 'delivered');
    const parked = await send(app, 'GET', `/api/webhooks/${id}/deliveries?filter=state:parked`);
    const [delivery] = JSON.parse(parked.text);
    expect(delivery).toMatchObject({
      ...{ state: 'parked', status: 500, error: 'The receiver responded with status 500.' },
    });
    const path = `/api/webhooks/${id}/deliveries/${delivery.identifier}`;
    expect((await send(app, 'POST', path, { state: 'retry' })).status).toBe(204);
    await eventually(() => expect(numbers('event-4').at(-1)).toBe(1));
    expect((await send(app, 'POST', path, { state: 'retry' })).status).toBe(404);
  });

  test('that says 410 is told no more', async () => {
    answerWith(() => 410);
    const id = await add();
    start();
    await change(['event-5', 1]);
    await eventually(async () => {
      const { text } = await send(app, 'GET', `/api/webhooks/${id}`);
      expect(JSON.parse(text)).toMatchObject({
        ...{ active: false, failures: 1, last_error: 'The receiver responded with status 410.' },
      });
    });
  });

  test('is not followed to where it redirects', async () => {
    const other = await WebhookReceiver.open();
    answerWith(() => 307, { Location: other.url });
    const id = await add();
    start();
    await change(['event-6', 1]);
    await eventually(async () => expect(await deliveries(id)).toMatchObject([{ last_status: 307, state: 'pending' }]));
    expect(other.received).toEqual([]);
    other.close();
  });

  test.each([
    ['http://127.0.0.1:9/hook', 'private'],
    ['http://localhost/hook', 'private'],
    ['ftp://example.org/', 'must begin with'],
    ['https://user:pass@example.org/', 'must contain no user'],
    ['nothing', 'is not a URL'],
    ['', 'is not a URL'],
  ])('at %j is refused with 400', async (url, reason) => {
    // One without WEBHOOK_HOSTS.
    const { status, text } = await send(await workerApp(), 'POST', '/api/webhooks', { url });
    expect(status).toBe(400);
    expect(text).toContain("The form parameter 'url' is not allowed");
    expect(text).toContain(reason);
  });

  test('is not reached at a name that leads to a private address, unless that name is one of WEBHOOK_HOSTS', async () => {
    const { port } = new URL(hooks.receiver.url);
    const id = await add();
    const url = `http://localhost:${port}/hook`;
    await database.updateTable('webhooks').set({ url }).where('id', '=', id).execute();
    start([]);
    await change(['event-7', 1]);
    await eventually(async () => {
      const [row] = await deliveries(id);
      expect(row?.last_error).toContain('neither public nor named in WEBHOOK_HOSTS');
    });
    expect(hooks.receiver.received).toEqual([]);
    await hooks.stop();
    start([{ host: 'localhost', port: Number(port) }]);
    await hurry();
    await expectNumbers('event-7', [1]);
  });
});

describe('the API of webhooks', () => {
  const put = (id: number, fields: Record<string, string>) => send(app, 'PUT', `/api/webhooks/${id}`, fields);
  const tryOut = async (id: number) => {
    const { text } = await send(app, 'POST', `/api/webhooks/${id}/test`);
    return JSON.parse(text);
  };

  test('shows a secret that was made up once, and never one that was given', async () => {
    const { text } = await send(app, 'POST', '/api/webhooks', { url: 'https://lms.example.org/hook' });
    const { identifier, secret } = JSON.parse(text);
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    const { url, secret: own } = hooks.receiver;
    const given = await send(app, 'POST', '/api/webhooks', { url, secret: own });
    expect(given.text).not.toContain('secret');
    for (const path of ['/api/webhooks', `/api/webhooks/${identifier}`])
      expect((await send(app, 'GET', path)).text).not.toContain(secret);
    expect((await put(identifier, { secret: 'whsec_short' })).status).toBe(400);
  });

  test('changes, deactivates and deletes one', async () => {
    const id = await add();
    const changed = await put(id, { active: 'false', filter: 'kind:event' });
    expect(JSON.parse(changed.text)).toMatchObject({ identifier: id, active: false, filter: 'kind:event' });
    expect((await put(id, { active: 'perhaps' })).status).toBe(400);
    expect((await put(id, { filter: 'colour:red' })).status).toBe(400);
    expect((await send(app, 'DELETE', `/api/webhooks/${id}`)).status).toBe(204);
    for (const method of ['GET', 'PUT', 'DELETE'])
      expect((await send(app, method, `/api/webhooks/${id}`)).status).toBe(404);
  });

  test('whose trial is under way when it is deleted is told to be missing', async () => {
    const id = await add();
    const tried = send(app, 'POST', `/api/webhooks/${id}/test`);
    await eventually(async () => expect((await deliveries(id)).length).toBeGreaterThan(0));
    expect((await send(app, 'DELETE', `/api/webhooks/${id}`)).status).toBe(204);
    expect((await tried).status).toBe(404);
  });

  test('tries one out and says what came of it', async () => {
    const id = await add();
    start();
    expect(await tryOut(id)).toMatchObject({
      ...{ kind: 'webhook.test', state: 'delivered', attempts: 1, status: 204 },
    });
    answerWith(() => 418);
    expect(await tryOut(id)).toMatchObject({ state: 'parked', status: 418 });
  });

  test('tries out one that is told nothing else, at once', async () => {
    const id = await add();
    await put(id, { active: 'false' });
    await database.updateTable('webhooks').set({ failures: 9 }).where('id', '=', id).execute();
    start();
    expect(await tryOut(id)).toMatchObject({ state: 'delivered' });
  });

  test('tells nothing of what happened while one was not active', async () => {
    const id = await add();
    await put(id, { active: 'false' });
    await change(['event-9', 1]);
    await put(id, { active: 'true' });
    start();
    await change(['event-9', 2]);
    await expectNumbers('event-9', [2]);
  });

  test('gives up in one go what waits for an address that has been dead for days', async () => {
    const id = await add({ url: 'http://127.0.0.1:1/nobody' });
    for (let n = 0; n < 3; n += 1) await change(['event-10', n]);
    await fanOut(database);
    await sql`UPDATE webhook_deliveries SET created_at = now() - interval '5 days'
      WHERE id < (SELECT max(id) FROM webhook_deliveries)`.execute(database);
    expect(await parkExpiredDeliveries(database)).toBe(2);
    expect(await states(id)).toEqual(['parked', 'parked', 'pending']);
    const { rows } = await sql`SELECT next_at <= now() AS due FROM webhook_deliveries
      WHERE state = 'pending'`.execute(database);
    expect(rows).toEqual([{ due: true }]);
  });

  test('forgets what ended long ago, and what was parked later', async () => {
    const id = await add();
    await sql`INSERT INTO webhook_deliveries (webhook_id, message_id, kind, body, order_key, state, ended_at)
      SELECT ${id}, 'swept_' || state || days || '_' || n, 'event.changed', '{}', 'event x', state,
        now() - make_interval(days => days)
      FROM (VALUES ('delivered', 31, 3), ('delivered', 29, 1), ('parked', 89, 2), ('parked', 91, 4))
        AS ended (state, days, count), generate_series(1, count) AS n`.execute(database);
    expect(await sweepDeliveries(database, 30)).toBe(7);
    expect((await states(id)).toSorted()).toEqual(['delivered', 'parked', 'parked']);
  });

  test('takes what is due for one that has nothing under way before more for one that has', async () => {
    const busy = await add({ filter: 'event:busy-0,event:busy-1,event:busy-2' });
    for (let n = 0; n < 3; n += 1) await change([`busy-${n}`, n]);
    await fanOut(database);
    const take = async (most: number) => (await claimDueDeliveries(database, most)).map(({ webhookId }) => webhookId);
    expect(await take(2)).toEqual([busy, busy]);
    const idle = await add({ filter: 'event:idle' });
    await change(['idle', 1]);
    await fanOut(database);
    await insertTest(database, busy);
    expect(await claimDueDeliveries(database, 1)).toMatchObject([{ webhookId: busy, kind: 'webhook.test' }]);
    expect(await take(1)).toEqual([idle]);
    expect(await take(9)).toEqual([busy]);
  });

  test('is for administrators only', async () => {
    const Authorization = await app.account('manager', 'ROLE_API', 'ROLE_API_EVENTS_VIEW');
    expect((await send(app, 'GET', '/api/webhooks', undefined, { Authorization })).status).toBe(403);
  });
});
