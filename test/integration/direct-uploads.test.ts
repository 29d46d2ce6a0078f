import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { bytes, readAll, sha256 } from '../support/bytes.ts';
import { recording } from '../support/clips.ts';
import {
  asEndpoint,
  ask,
  asUpload,
  type DirectServer,
  handOut,
  patchAll,
  sendAll,
  startDirect,
  told,
  tusRequest,
} from '../support/direct-uploads.ts';
import { eventFields } from '../support/form.ts';
import { expectNothingLeftOver } from '../support/leftovers.ts';
import { processEvent } from '../support/process-event.ts';

const MIB = 2 ** 20;
const SITE = 'https://learn.example.org';

let app: DirectServer;
beforeAll(async () => {
  app = await startDirect({ CORS_ORIGINS: SITE });
});
afterAll(() => app?.close());

const tracksOf = (eventId: string) =>
  app.database
    .selectFrom('tracks')
    .select(['flavor', 'filename', 'size', 'sha256', 'object_key'])
    .where('event_id', '=', eventId)
    .orderBy('position')
    .execute();

describe.each([
  ['as an upload that is there, in one request', asUpload, 100 * MIB],
  ['as an upload that is there, in chunks', asUpload, 5 * MIB],
  ['as a place to begin one, in one request', asEndpoint, 100 * MIB],
  ['as a place to begin one, in chunks', asEndpoint, 5 * MIB],
] as const)('an address taken %s', (_how, options, chunkSize) => {
  test('takes a file of tus-js-client without an account, and tells the event that becomes of it', async () => {
    const data = bytes(12 * MIB + 3);
    const { id, urls } = await handOut(app);
    expect(await told(app, id)).toMatchObject({ state: 'waiting', files: [{ offset: 0, length: null }] });
    const eventId = await sendAll(data, { ...options(urls[0] ?? ''), chunkSize });
    expect(await told(app, id)).toMatchObject({
      state: 'finished',
      event_identifier: eventId,
      files: [{ field: 'presenter', length: data.length, offset: data.length }],
    });
    const [track, ...others] = await tracksOf(eventId ?? '');
    expect(others).toEqual([]);
    expect(track).toMatchObject({ flavor: 'presenter/source', size: data.length, sha256: sha256(data) });
    expect(sha256(await readAll(await app.storage.get(track?.object_key ?? '')))).toBe(sha256(data));
  });
});

test('with the last of two files the event is made, and processed to the end', async () => {
  const clip = await recording({ container: 'mpg' });
  const fields = { files: '["presenter",{"flavor":"presentation/source"}]' };
  const { id, urls } = await handOut(app, fields, { parts: eventFields({ title: 'Two files' }) });
  const [first = '', second = ''] = urls;
  expect(await sendAll(clip, asEndpoint(second))).toBeUndefined();
  expect(await told(app, id)).toMatchObject({
    state: 'uploading',
    files: [
      { offset: 0 },
      { flavor: 'presentation/source', filename: 'Vorlesung ü.mp4', offset: clip.length },
    ],
  });
  const eventId = (await sendAll(clip, asUpload(first))) ?? '';
  expect((await tracksOf(eventId)).map(({ flavor, filename }) => [flavor, filename])).toEqual([
    ['presenter/source', 'presenter'],
    ['presentation/source', 'Vorlesung ü.mp4'],
  ]);
  await processEvent(app, eventId);
  const event = await (await app.request(`/api/events/${eventId}`)).json();
  expect(event).toMatchObject({
    title: 'Two files',
    creator: 'Administrator',
    processing_state: 'SUCCEEDED',
  });
});

test('whoever asks again after the end is told the event', async () => {
  const { urls } = await handOut(app);
  const [url = ''] = urls;
  const last = await patchAll(url, bytes(10));
  const eventId = last.headers.get('Inlet-Event-Id');
  expect([last.status, eventId]).toEqual([204, expect.any(String)]);
  for (const answer of [
    await tusRequest('HEAD', url),
    await tusRequest('POST', url, { 'Upload-Length': '10' }),
  ]) {
    expect(answer.headers.get('Inlet-Event-Id')).toBe(eventId);
  }
  expect((await patchAll(url, bytes(10))).status).toBe(409);
  expect((await tusRequest('DELETE', url)).status).toBe(409);
});

describe('beginning at an address twice', () => {
  const begin = (url: string, length: number) => tusRequest('POST', url, { 'Upload-Length': String(length) });

  test('with the same length leads to the same place, with what has come', async () => {
    const [url = ''] = (await handOut(app)).urls;
    for (let i = 0; i < 2; i += 1) {
      const answer = await begin(url, 10);
      expect([answer.status, answer.headers.get('Location')]).toEqual([201, url]);
    }
    const part = { 'Upload-Offset': '0', 'Content-Type': 'application/offset+octet-stream' };
    expect((await tusRequest('PATCH', url, part, bytes(4))).status).toBe(204);
    expect((await begin(url, 10)).status).toBe(201);
    expect((await tusRequest('HEAD', url)).headers.get('Upload-Offset')).toBe('4');
  });

  test('with data brings them once', async () => {
    const [url = ''] = (await handOut(app)).urls;
    const headers = { 'Upload-Length': '10', 'Content-Type': 'application/offset+octet-stream' };
    for (let i = 0; i < 2; i += 1) {
      const answer = await tusRequest('POST', url, headers, bytes(4));
      expect([answer.status, answer.headers.get('Upload-Offset')]).toEqual([201, '4']);
    }
  });

  test('with another length is refused, until what has come is given up', async () => {
    const [url = ''] = (await handOut(app)).urls;
    expect((await begin(url, 10)).status).toBe(201);
    const other = await begin(url, 11);
    expect([other.status, await other.text()]).toEqual([
      409,
      'An upload of 10 bytes has begun here; go on with it, or give it up.',
    ]);
    expect((await tusRequest('DELETE', url)).status).toBe(204);
    expect(await sendAll(bytes(11), asEndpoint(url))).toEqual(expect.any(String));
  });
});

test('clients that may send nothing but POST say what they mean in a header', async () => {
  const { id, urls } = await handOut(app);
  const eventId = await sendAll(bytes(20), { ...asEndpoint(urls[0] ?? ''), overridePatchMethod: true });
  expect(await told(app, id)).toMatchObject({ state: 'finished', event_identifier: eventId });
});

describe('browsers', () => {
  test('of configured sites may upload and read the event, whatever they remember of an account', async () => {
    const [url = ''] = (await handOut(app)).urls;
    const asked = await fetch(url, {
      method: 'OPTIONS',
      headers: { Origin: SITE, 'Access-Control-Request-Method': 'PATCH' },
    });
    expect(asked.headers.get('Access-Control-Allow-Origin')).toBe(SITE);
    expect(asked.headers.get('Access-Control-Allow-Methods')).toContain('PATCH');
    const wrong = {
      Origin: SITE,
      'Sec-Fetch-Site': 'cross-site',
      Cookie: 'inlet-session=x',
      Authorization: 'Basic eA==',
    };
    const answer = await patchAll(url, bytes(5), wrong);
    expect([answer.status, answer.headers.get('Access-Control-Allow-Origin')]).toEqual([204, SITE]);
    expect(answer.headers.get('Access-Control-Expose-Headers')).toContain('Inlet-Event-Id');
  });

  test('of other sites may not', async () => {
    const [url = ''] = (await handOut(app)).urls;
    const answer = await patchAll(url, bytes(5), { Origin: 'https://elsewhere.example.org' });
    expect(answer.status).toBe(403);
    expect((await tusRequest('HEAD', url)).headers.get('Upload-Offset')).toBe('0');
  });
});

describe('who is told of a direct upload', () => {
  test('the account that asked, and administrators; for anybody else there is none', async () => {
    const [mine, other, without] = [
      await app.account('lms', 'ROLE_API_EVENTS_CREATE'),
      await app.account('other', 'ROLE_API_EVENTS_CREATE'),
      await app.account('without', 'ROLE_API_EVENTS_VIEW'),
    ];
    const { id } = await handOut(app, {}, { headers: { Authorization: mine } });
    expect((await told(app, id, { Authorization: mine })).status).toBe(200);
    expect((await told(app, id)).status).toBe(200);
    for (const Authorization of [other, without]) {
      const status = Authorization === other ? 404 : 403;
      expect((await told(app, id, { Authorization })).status).toBe(status);
      const removed = await app.request(`/api/uploads/${id}`, {
        method: 'DELETE',
        headers: { Authorization },
      });
      expect(removed.status).toBe(status);
    }
    expect((await ask(app, {}, { headers: { Authorization: without } })).status).toBe(403);
    expect((await app.anonymous('/api/uploads', { method: 'POST' })).status).toBe(401);
    expect((await app.anonymous(`/api/uploads/${id}`)).status).toBe(401);
  });

  test('what comes is nobody’s upload elsewhere', async () => {
    const mine = await app.account('lms2', 'ROLE_API_EVENTS_CREATE');
    const { id, urls } = await handOut(app, {}, { headers: { Authorization: mine } });
    const token = urls[0]?.split('/').at(-1) ?? '';
    for (const path of [`/uploads/${token}`, `/uploads/${id}`, `/api/uploads/${token}`]) {
      const headers = { Authorization: mine, 'Tus-Resumable': '1.0.0' };
      expect((await app.request(path, { method: 'HEAD', headers })).status).toBe(404);
    }
  });

  test('the event is theirs for whom it was asked, with the roles that were given then', async () => {
    const parts = eventFields();
    const headers = { 'X-RUN-AS-USER': 'lms', 'X-RUN-WITH-ROLES': 'ROLE_OF_A_COURSE' };
    const { id, urls } = await handOut(app, {}, { parts, headers });
    const eventId = await sendAll(bytes(5), asUpload(urls[0] ?? ''));
    expect(await told(app, id)).toMatchObject({ state: 'finished' });
    expect(await (await app.request(`/api/events/${eventId}`)).json()).toMatchObject({ creator: 'lms' });
  });
});

test('nothing is left of direct uploads that have been taken back', async () => {
  const ids = await app.database.selectFrom('direct_uploads').select(['id', 'event_id']).execute();
  for (const { id, event_id } of ids) {
    const answer = await app.request(`/api/uploads/${id}`, { method: 'DELETE' });
    expect(answer.status).toBe(event_id === null ? 204 : 409);
  }
  await app.context.staging.sweep(undefined);
  await expectNothingLeftOver(app);
});

test('no address gets into the log', () => {
  const lines = app.log.filter((line) => line.includes('direct-uploads'));
  expect(lines.length).toBeGreaterThan(20);
  for (const line of lines) expect(JSON.parse(line).path ?? '').toBe('/direct-uploads/[redacted]');
  expect(app.log.filter((line) => /direct-uploads\/(?!\[redacted\])/.test(line))).toEqual([]);
});
