import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { refused } from '../../src/storage/port.ts';
import { createTestApp, type TestApp } from '../support/app.ts';
import { counts, post } from '../support/app-uploads.ts';
import { bytes } from '../support/bytes.ts';
import { eventually } from '../support/eventually.ts';
import { eventFields, file, type Part } from '../support/form.ts';
import { storageWithPut } from '../support/storage-with-put.ts';

const SERVICE = 'ROLE_GROUP_MH_DEFAULT_ORG_EXTERNAL_APPLICATIONS';
const clip = (seed = 1) => file('presenter', 'a.mp4', bytes(100_000, seed));
const PARTS = [...eventFields(), clip()];

let app: TestApp;
/** Runs before each object is stored. */
let beforePut: () => Promise<void> = async () => undefined;
let stored = 0;

beforeAll(async () => {
  app = await createTestApp((storage) =>
    storageWithPut(storage, async (...args) => {
      stored += 1;
      await beforePut();
      return storage.put(...args);
    }),
  );
});
afterAll(() => app?.close());
beforeEach(() => {
  stored = 0;
});
afterEach(() => {
  beforePut = async () => undefined;
});

const newKey = () => randomUUID();

async function send(key: string, parts: readonly Part[] = PARTS, headers: Record<string, string> = {}) {
  const answer = await post(app, parts, { 'Idempotency-Key': key, ...headers });
  const seen = ['Location', 'Content-Type', 'Vary'].map((name) => answer.headers.get(name));
  return {
    status: answer.status,
    text: await answer.text(),
    headers: seen,
    replayed: answer.headers.get('Idempotent-Replayed'),
    retryAfter: answer.headers.get('Retry-After'),
  };
}

const expireKeys = () =>
  app.database
    .updateTable('idempotency_keys')
    .set({ expires_at: new Date(0) })
    .execute();

const UNDER_WAY = { status: 409, text: 'A request with this Idempotency-Key is still being carried out.' };
const OTHER_REQUEST = { status: 422, text: 'This Idempotency-Key was sent with another request before.' };

test('the same upload with the same key gets the first answer again and stores nothing', async () => {
  const key = newKey();
  const first = await send(key, PARTS, { Accept: 'application/v1.8.0+json' });
  expect(first).toMatchObject({ status: 201, replayed: null });
  const before = await counts(app);
  expect(stored).toBe(1);
  const again = await send(`"${key}"`, [...PARTS].reverse());
  expect(again).toEqual({ ...first, replayed: 'true' });
  expect(await counts(app)).toEqual(before);
  expect(stored).toBe(1);
});

test.each(['constructor', '__proto__', 'attachment'])(
  'a file in the part %s counts for nothing',
  async (field) => {
    const key = newKey();
    const first = await send(key);
    expect(first.status).toBe(201);
    const again = await send(key, [...PARTS, file(field, 'b.pdf', bytes(1000))]);
    expect(again).toEqual({ ...first, replayed: 'true' });
  },
);

test('without a key every upload is a new event', async () => {
  const answers = [await post(app, PARTS), await post(app, PARTS)];
  const [first, second] = await Promise.all(answers.map((answer) => answer.text()));
  expect(answers.map(({ status }) => status)).toEqual([201, 201]);
  expect(first).not.toBe(second);
});

test.each<[string, readonly Part[]]>([
  ['another title', [...eventFields({ title: 'Other' }), clip()]],
  ['another byte in its file', [...eventFields(), clip(2)]],
  ['another name of its file', [...eventFields(), file('presenter', 'b.mp4', bytes(100_000))]],
  ['its file in another field', [...eventFields(), file('audio', 'a.mp4', bytes(100_000))]],
  ['one file more', [...eventFields(), clip(), clip()]],
  ['no file', eventFields()],
  ['one field less', [...eventFields().slice(1), clip()]],
])('an upload with the same key and %s is refused, and nothing of it stays', async (_name, parts) => {
  const key = newKey();
  const first = await send(key);
  const before = await counts(app);
  expect(await send(key, parts)).toMatchObject({ ...OTHER_REQUEST, replayed: null });
  expect(await counts(app)).toEqual(before);
  expect(stored).toBe(1);
  // What was refused has not become the request of the key.
  expect(await send(key)).toEqual({ ...first, replayed: 'true' });
});

test('while the first upload runs, the second is refused before its body is read', async () => {
  const key = newKey();
  let second: { status: number; text: string; retryAfter: string | null } | undefined;
  let pulled = 0;
  const pull = () => {
    pulled += 1;
  };
  beforePut = async () => {
    const body = new ReadableStream({ pull }, { highWaterMark: 0 });
    const headers = {
      'Idempotency-Key': key,
      'Content-Type': 'multipart/form-data; boundary=x',
      'Content-Length': '1000000',
    };
    const init = { method: 'POST', headers, body, duplex: 'half' };
    const answer = await app.request('/api/events', init as RequestInit);
    second = {
      status: answer.status,
      text: await answer.text(),
      retryAfter: answer.headers.get('Retry-After'),
    };
    expect(answer.headers.get('Connection')).toBe('close');
  };
  const first = await send(key);
  expect(second).toEqual({ ...UNDER_WAY, retryAfter: '5' });
  expect(pulled).toBe(0);
  expect(await send(key)).toEqual({ ...first, replayed: 'true' });
});

test('of many uploads at once with one key, one event comes', async () => {
  const key = newKey();
  const before = await counts(app);
  const answers = await Promise.all(Array.from({ length: 6 }, () => send(key)));
  const made = answers.filter(({ status, replayed }) => status === 201 && replayed === null);
  expect(made).toHaveLength(1);
  for (const answer of answers) {
    if (answer.status === 201) expect(answer.text).toBe(made[0]?.text);
    else expect(answer).toMatchObject(UNDER_WAY);
  }
  expect(await counts(app)).toEqual({ events: before.events + 1, staged: 0, stored: before.stored + 1 });
});

test('a series is created once, too, and its key is none for an event', async () => {
  const key = newKey();
  const create = async (title: string) => {
    const metadata = [{ flavor: 'dublincore/series', fields: [{ id: 'title', value: title }] }];
    const body = new URLSearchParams({ metadata: JSON.stringify(metadata), acl: '[]' });
    const headers = { 'Idempotency-Key': key };
    const answer = await app.request('/api/series', { method: 'POST', headers, body });
    const text = await answer.text();
    return [answer.status, text, answer.headers.get('Location'), answer.headers.get('Idempotent-Replayed')];
  };
  const [status, text, location, replayed] = await create('Course');
  expect([status, replayed]).toEqual([201, null]);
  expect(await create('Course')).toEqual([201, text, location, 'true']);
  expect(await create('Another')).toEqual([422, OTHER_REQUEST.text, null, null]);
  expect(await send(key)).toMatchObject(OTHER_REQUEST);
  const series = app.database
    .selectFrom('series')
    .select('title')
    .where('title', 'in', ['Course', 'Another']);
  expect(await series.execute()).toEqual([{ title: 'Course' }]);
});

test('another account with the same key makes its own event, and cannot tell that the key was used', async () => {
  const key = newKey();
  const [ada, eve] = await Promise.all([app.account('ada', SERVICE), app.account('eve', SERVICE)]);
  const first = await send(key, PARTS, { Authorization: ada });
  const other = await send(key, [...eventFields({ title: 'Other' }), clip(2)], { Authorization: eve });
  expect(other).toMatchObject({ status: 201, replayed: null });
  expect(other.text).not.toBe(first.text);
  expect(await send(key, PARTS, { Authorization: ada })).toEqual({ ...first, replayed: 'true' });
});

test('a key belongs to whom the account acts as', async () => {
  const key = newKey();
  await app.account('target', 'ROLE_T');
  const ways: Record<string, string>[] = [
    {},
    { 'X-RUN-AS-USER': 'target' },
    { 'X-RUN-WITH-ROLES': 'ROLE_T' },
    { 'X-RUN-WITH-ROLES': 'ROLE_U' },
  ];
  const firsts = [];
  for (const way of ways) firsts.push(await send(key, PARTS, way));
  expect(firsts.map(({ status, replayed }) => [status, replayed])).toEqual(ways.map(() => [201, null]));
  expect(new Set(firsts.map(({ text }) => text)).size).toBe(4);
  for (const [i, way] of ways.entries()) {
    expect(await send(key, PARTS, way)).toEqual({ ...firsts[i], replayed: 'true' });
  }
});

test('after a refusal the corrected request may carry the same key', async () => {
  const key = newKey();
  const wrong = await send(key, [...eventFields({ metadata: { isPartOf: 'nowhere' } }), clip()]);
  expect(wrong.status).toBe(400);
  expect(await send(key)).toMatchObject({ status: 201, replayed: null });
});

test('after a fault of the storage the same request may be sent again', async () => {
  const key = newKey();
  beforePut = async () => {
    throw refused(new Error('SlowDown'));
  };
  expect((await send(key)).status).toBe(503);
  beforePut = async () => undefined;
  expect(await send(key)).toMatchObject({ status: 201, replayed: null });
});

test('an upload that was taken for dead loses to the one that took its key over', async () => {
  const key = newKey();
  const before = await counts(app);
  let second: Awaited<ReturnType<typeof send>> | undefined;
  beforePut = async () => {
    beforePut = async () => undefined;
    // The process may renew the key in between.
    second = await eventually(async () => {
      await expireKeys();
      const sent = await send(key);
      expect(sent.status).toBe(201);
      return sent;
    });
  };
  expect(await send(key)).toMatchObject(UNDER_WAY);
  expect(second).toMatchObject({ status: 201, replayed: null });
  expect(await counts(app)).toEqual({ events: before.events + 1, staged: 0, stored: before.stored + 1 });
  expect(await send(key)).toEqual({ ...second, replayed: 'true' });
});

test('after its day a key is as good as new', async () => {
  const key = newKey();
  const first = await send(key);
  await expireKeys();
  const other = await send(key, [...eventFields({ title: 'Other' }), clip(2)]);
  expect(other).toMatchObject({ status: 201, replayed: null });
  expect(other.text).not.toBe(first.text);
});

test('a repeated upload that breaks off is refused like any other, and the answer stays', async () => {
  const key = newKey();
  const first = await send(key);
  const cut = await app.request('/api/events', {
    method: 'POST',
    headers: { 'Idempotency-Key': key, 'Content-Type': 'multipart/form-data; boundary=x' },
    body: '--x\r\nContent-Disposition: form-data; name="presenter"; filename="a.mp4"\r\n\r\nbytes',
  });
  expect(cut.status).toBe(400);
  expect(await send(key)).toEqual({ ...first, replayed: 'true' });
});

test.each(['', 'a b', 'x'.repeat(256), 'one, two'])('the key %j is refused', async (key) => {
  expect(await send(key)).toMatchObject({
    status: 400,
    text: expect.stringMatching(/^The header Idempotency-Key must be .*\.$/),
  });
  expect(stored).toBe(0);
});
