import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestApp, type TestApp } from '../support/app.ts';

let app: TestApp;
beforeAll(async () => {
  app = await createTestApp(undefined, { WEBHOOK_HOSTS: '127.0.0.1' });
});
afterAll(() => app?.close());

const post = (path: string, fields: Record<string, string>, headers = {}) =>
  app.request(path, { method: 'POST', body: new URLSearchParams(fields), headers });

test('the page adds a webhook and shows its secret once, pauses, resumes and deletes it', async () => {
  const added = await post('/admin/webhooks', { url: 'http://127.0.0.1:9/<b>', filter: 'kind:event' });
  const text = await added.text();
  expect(added.status).toBe(200);
  const secret = /whsec_[A-Za-z0-9+/=]+/.exec(text)?.[0] ?? '';
  const { id, secret: stored } = await app.database
    .selectFrom('webhooks')
    .select(['id', 'secret'])
    .executeTakeFirstOrThrow();
  expect(stored).toBe(secret);
  const read = async () => (await app.request('/admin/webhooks')).text();
  expect(await read()).toContain('http://127.0.0.1:9/%3Cb%3E');
  expect(await read()).not.toContain(secret);
  expect((await post(`/admin/webhooks/${id}`, { action: 'pause' })).status).toBe(303);
  expect(await read()).toContain('Not active.');
  expect((await post(`/admin/webhooks/${id}`, { action: 'resume' })).status).toBe(303);
  expect((await post(`/admin/webhooks/${id}`, { action: 'paint' })).status).toBe(400);
  const elsewhere = await post(
    `/admin/webhooks/${id}`,
    { action: 'delete' },
    { Origin: 'https://elsewhere.example.org' },
  );
  expect(elsewhere.status).toBe(403);
  expect((await post(`/admin/webhooks/${id}`, { action: 'delete' })).status).toBe(303);
  expect((await post(`/admin/webhooks/${id}`, { action: 'delete' })).status).toBe(404);
});

test('a message that was given up is shown with its reason, and sent again with a button', async () => {
  const { id } = await app.database
    .insertInto('webhooks')
    .values({ url: 'http://127.0.0.1:9/', secret: 'whsec_x', since: 0 })
    .returning('id')
    .executeTakeFirstOrThrow();
  const { id: delivery } = await app.database
    .insertInto('webhook_deliveries')
    .values({
      ...{ webhook_id: id, message_id: 'msg_1', kind: 'event.deleted', body: '{}', order_key: 'event x' },
      ...{ state: 'parked', attempts: 31, last_error: 'There was no answer within 15 seconds.' },
    })
    .returning('id')
    .executeTakeFirstOrThrow();
  const text = await (await app.request('/admin/webhooks')).text();
  expect(text).toMatch(/event\.deleted[\s\S]*There was no answer within 15 seconds\.[\s\S]*31 attempts/);
  const again = await post(`/admin/webhooks/${id}`, { action: 'send-again', delivery: String(delivery) });
  expect(again.status).toBe(303);
  const { state } = await app.database
    .selectFrom('webhook_deliveries')
    .select('state')
    .executeTakeFirstOrThrow();
  expect(state).toBe('pending');
});
