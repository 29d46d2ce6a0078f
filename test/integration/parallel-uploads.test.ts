import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createApp } from '../../src/app.ts';
import { type RunningServer, serve } from '../../src/http/server/serve.ts';
import { createTestApp, type TestApp } from '../support/app.ts';
import { counts } from '../support/app-uploads.ts';
import { bytes } from '../support/bytes.ts';
import { Client } from '../support/client.ts';
import { eventually } from '../support/eventually.ts';
import { eventFields, field, file, form, type Part } from '../support/form.ts';
import { expectNothingLeftOver } from '../support/leftovers.ts';
import { OpenUpload } from '../support/open-upload.ts';
import { insertScheduled } from '../support/scheduled-event.ts';
import { newAgent, scheduledFields } from '../support/scheduling.ts';
import { append, begin, stateOf, tus } from '../support/tus.ts';

const LARGE = bytes(12 * 2 ** 20);
const SMALL = bytes(1000, 2);
const SITE = 'https://lms.example.org';
const OFFSET_STREAM = 'application/offset+octet-stream';
const REFUSED = {
  status: 503,
  body: 'As many uploads are under way as there may be at once (1). Try again later.',
  headers: expect.objectContaining({ 'retry-after': '30', connection: 'close' }),
};

let app: TestApp;
let server: RunningServer;
let client: Client;
let scheduled: string;
beforeAll(async () => {
  app = await createTestApp(undefined, { MAX_PARALLEL_UPLOADS: '1', CORS_ORIGINS: SITE });
  server = await serve(createApp(app.context).fetch, { host: '127.0.0.1', port: 0 });
  client = new Client(`http://127.0.0.1:${server.port}`);
  scheduled = await insertScheduled(app.database, {
    agent_id: newAgent(),
    start: '2024-05-06T08:00:00Z',
    end: '2024-05-06T09:00:00Z',
  });
});
afterAll(async () => {
  server?.destroy();
  await app?.close();
});

const upload = (parts: readonly Part[], { path = '/api/events', headers = {}, expect = false } = {}) => {
  const { type, body } = form(parts);
  const open = new OpenUpload(client, {
    type,
    length: body.length,
    path,
    headers,
    ...(expect && { expect: '100-continue' as const }),
  });
  return { open, body };
};
/** Sends everything without waiting for anything, as many clients do. */
const sendAll = async (parts: readonly Part[], options: Parameters<typeof upload>[1] = {}) => {
  const { open, body } = upload(parts, options);
  void open.write(body);
  open.end();
  return open.answer;
};
const recording = (content: Uint8Array) => file('presenter', 'camera.mp4', content);
const tusHeaders = (headers: Record<string, string>) => ({ 'Tus-Resumable': '1.0.0', ...headers });

describe('while as many uploads are under way as there may be', () => {
  let first: ReturnType<typeof upload>;
  beforeEach(async () => {
    first = upload([...eventFields(), recording(LARGE)]);
    await first.open.write(first.body.subarray(0, 2 ** 20));
    await eventually(async () => expect((await counts(app)).staged).toBe(1), 20_000, 20);
  });
  afterEach(async () => {
    await first.open.write(first.body.subarray(2 ** 20));
    first.open.end();
    // Nothing that was refused has disturbed it.
    expect((await first.open.answer).status).toBe(201);
    await app.context.staging.sweep(undefined);
    for (const { id } of await app.database.selectFrom('uploads').select('id').execute()) {
      await tus(app, 'DELETE', `/uploads/${id}`);
    }
    await app.context.staging.sweep(undefined);
    await expectNothingLeftOver(app);
  });

  test.each([
    ['POST', '/api/events', 'multipart/form-data; boundary=x'],
    ['POST', () => `/api/events/${scheduled}`, 'multipart/form-data; boundary=x'],
    ['POST', () => `/api/events/${scheduled}/track`, 'multipart/form-data; boundary=x'],
    ['POST', '/uploads', OFFSET_STREAM],
  ] as const)('%s %s is refused before its body is read', async (method, path, type) => {
    const target = typeof path === 'string' ? path : path();
    const headers = tusHeaders({ 'Upload-Length': '10000000' });
    const before = await counts(app);
    for (const length of [10_000_000, undefined]) {
      const open = new OpenUpload(client, {
        method,
        path: target,
        type,
        expect: '100-continue',
        headers,
        ...(length !== undefined && { length }),
      });
      expect(await open.answer).toMatchObject(REFUSED);
      expect(open.asked).toBe(false);
    }
    expect(await counts(app)).toEqual(before);
  });

  test('more of a resumable upload is refused, and comes later', async () => {
    const id = await begin(app, LARGE.length);
    const headers = tusHeaders({ 'Upload-Offset': '0' });
    const open = new OpenUpload(client, {
      method: 'PATCH',
      path: `/uploads/${id}`,
      type: OFFSET_STREAM,
      length: LARGE.length,
      headers,
    });
    void open.write(LARGE);
    expect(await open.answer).toMatchObject(REFUSED);
    expect(await stateOf(app, id)).toMatchObject({ status: 200, offset: 0 });
  });

  test('pages of trusted sites read the refusal, and when to come again', async () => {
    const headers = tusHeaders({ Origin: SITE, 'Upload-Length': '5' });
    for (const [path, type] of [
      ['/api/events', 'multipart/form-data; boundary=x'],
      ['/uploads', OFFSET_STREAM],
    ] as const) {
      const answer = await new OpenUpload(client, { path, type, headers }).answer;
      expect(answer).toMatchObject(REFUSED);
      expect(answer.headers['access-control-allow-origin']).toBe(SITE);
      expect(answer.headers['access-control-expose-headers']).toContain('Retry-After');
    }
  });

  test('who sends without waiting reads the refusal', async () => {
    for (let i = 0; i < 3; i += 1) {
      expect(await sendAll([...eventFields(), recording(LARGE)])).toMatchObject(REFUSED);
    }
  });

  test('a small form is refused when a file comes, and nothing of it is kept', async () => {
    const before = await counts(app);
    for (const path of ['/api/events', `/api/events/${scheduled}`]) {
      expect(await sendAll([...eventFields(), recording(SMALL)], { path })).toMatchObject(REFUSED);
    }
    const track = [field('flavor', 'captions/source'), file('track', 'de.vtt', SMALL)];
    expect(await sendAll(track, { path: `/api/events/${scheduled}/track` })).toMatchObject(REFUSED);
    expect(await counts(app)).toEqual(before);
  });

  test('what brings no recording is done', async () => {
    const fields = scheduledFields({ agent_id: newAgent(), start: '2030-05-06T08:00:00Z', duration: 1000 });
    expect((await sendAll(fields)).status).toBe(201);
    const metadata = '[{"flavor":"dublincore/episode","fields":[{"id":"title","value":"After"}]}]';
    const path = `/api/events/${scheduled}`;
    expect((await sendAll([field('metadata', metadata)], { path })).status).toBe(204);
    const id = await begin(app, 10);
    expect((await stateOf(app, id)).status).toBe(200);
    expect((await tus(app, 'DELETE', `/uploads/${id}`)).status).toBe(204);
  });

  test('a refused request has not used its Idempotency-Key', async () => {
    const headers = { 'Idempotency-Key': randomUUID() };
    const small = [...eventFields(), recording(SMALL)];
    const other = [...eventFields({ title: 'Another' }), recording(LARGE)];
    expect(await sendAll(small, { headers })).toMatchObject(REFUSED);
    expect(await sendAll(other, { headers })).toMatchObject(REFUSED);
    await first.open.write(first.body.subarray(2 ** 20));
    first.open.end();
    await first.open.answer;
    const made = await sendAll(small, { headers });
    expect(made).toMatchObject({ status: 201 });
    // To compare a repeated one takes reading it.
    const next = upload([...eventFields(), recording(LARGE)]);
    await next.open.write(next.body.subarray(0, 2 ** 20));
    await eventually(async () => expect((await counts(app)).staged).toBe(1), 20_000, 20);
    expect(await sendAll(small, { headers })).toMatchObject(REFUSED);
    await next.open.write(next.body.subarray(2 ** 20));
    next.open.end();
    expect((await next.open.answer).status).toBe(201);
    const again = await sendAll(small, { headers });
    expect(again).toMatchObject({ status: 201, body: made.body });
    expect(again.headers['idempotent-replayed']).toBe('true');
  });
});

test('a client that goes away makes room for another', async () => {
  const gone = upload([...eventFields(), recording(LARGE)]);
  await gone.open.write(gone.body.subarray(0, 2 ** 20));
  await eventually(async () => expect((await counts(app)).staged).toBe(1), 20_000, 20);
  gone.open.cut();
  const next = async () => {
    const answer = await sendAll([...eventFields(), recording(SMALL)]);
    expect(answer.status).toBe(201);
  };
  await eventually(next);
});

test('finished uploads make an event without being counted as one', async () => {
  const id = await begin(app, SMALL.length);
  expect((await append(app, id, 0, SMALL)).status).toBe(204);
  const open = upload([...eventFields(), recording(LARGE)]);
  await open.open.write(open.body.subarray(0, 2 ** 20));
  await eventually(async () => expect((await counts(app)).staged).toBe(2), 20_000, 20);
  const { type, body } = form([
    ...eventFields(),
    field('uploads', JSON.stringify([{ id, field: 'presenter' }])),
  ]);
  const headers = { 'Content-Type': type, 'Content-Length': String(body.length) };
  const answer = await app.request('/api/events', { method: 'POST', headers, body });
  expect(answer.status, await answer.text()).toBe(201);
  open.open.cut();
});
