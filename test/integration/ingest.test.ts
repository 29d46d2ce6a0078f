import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createApp } from '#app/app.ts';
import { UploadLimiter } from '#ingest/upload-limiter.ts';
import { serve } from '#platform/http/server/serve.ts';
import { type ObjectStorage, storageRefused } from '#platform/storage/object-storage.ts';
import { ADMIN, ownApp, type TestApp } from '../support/app.ts';
import { counts, created, post } from '../support/app-uploads.ts';
import { bytes, sha256 } from '../support/bytes.ts';
import { recording } from '../support/clips.ts';
import { giveAcl } from '../support/event-writes.ts';
import { eventually } from '../support/eventually.ts';
import { eventFields, field, file, form, type Part } from '../support/form.ts';
import { expectNothingLeftOver, isRemembered } from '../support/leftovers.ts';
import { OpenUpload } from '../support/open-upload.ts';
import { insertEvent } from '../support/publication.ts';
import { insertScheduled } from '../support/scheduled-event.ts';
import { newAgent, scheduledFields } from '../support/scheduling.ts';
import { ace } from '../support/series.ts';
import { storageWith } from '../support/storage-with.ts';
import { append, begin, stateOf, tus } from '../support/tus.ts';
import { FOR_AGES } from '../support/watched.ts';

type Put = ObjectStorage['put'];

const SITE = 'https://lms.example.org';
const NOT_STORED = 'The recording could not be stored. Try again later.';

/** What the object storage does with an upload; the real one unless a test says otherwise. */
let put: Put | undefined;
const app = await ownApp(
  (storage) => storageWith(storage, { put: (...args) => (put ?? storage.put.bind(storage))(...args) }),
  { CORS_ORIGINS: SITE },
);
const { database, storage, context } = app;
afterEach(() => {
  put = undefined;
});

const expireStaged = () =>
  database
    .updateTable('staging')
    .set({ expires_at: new Date(0) })
    .execute();
const staged = async () => (await counts(app)).staged;

/** Posts a form that comes from a stream. */
const postStream = (path: string, type: string, body: ReadableStream) => {
  const init = { method: 'POST', headers: { 'Content-Type': type }, body, duplex: 'half' };
  return app.request(path, init as RequestInit);
};

test('an event, its ACL, its track and its workflow are written together, and nothing stays staged', async () => {
  const clip = await recording({ seconds: 1 });
  const acl = [
    { role: 'ROLE_A', action: 'read' },
    { role: 'ROLE_A', action: 'read', allow: true },
    { role: 'ROLE_A', action: 'write', allow: true },
  ];
  const fields = { acl, metadata: { creator: ['Ada'] }, configuration: { flagForReview: 'true' } };
  const parts = [...eventFields(fields), file('presenter', 'lecture.txt', clip)];
  const answer = await post(app, parts, { 'X-Request-Id': 'request-1' });
  const id = await created(answer);
  expect(answer.headers.get('Location')).toBe(`http://inlet.test/api/events/${id}`);

  const event = database.selectFrom('events').selectAll().where('id', '=', id);
  expect(await event.executeTakeFirstOrThrow()).toMatchObject({
    title: 'Lecture',
    presenters: ['Ada'],
    creator: 'Administrator',
    processing_state: 'INSTANTIATED',
  });
  const entries = database.selectFrom('event_acl').select(['role', 'action', 'allow']);
  expect(await entries.where('event_id', '=', id).orderBy('position').execute()).toEqual([
    { role: 'ROLE_A', action: 'read', allow: true },
    { role: 'ROLE_A', action: 'write', allow: true },
  ]);
  const tracks = await database.selectFrom('tracks').selectAll().where('event_id', '=', id).execute();
  // The bytes say what it is, not its name.
  const track = { mediatype: 'video/mp4', filename: 'lecture.txt', size: clip.length, sha256: sha256(clip) };
  expect(tracks).toMatchObject([{ ...track, duration: null }]);
  expect(await storage.size(tracks[0]?.object_key ?? '')).toBe(clip.length);
  const operations = await database
    .selectFrom('workflow_operations')
    .innerJoin('workflows', 'workflows.id', 'workflow_id')
    .select(['operation', 'workflow_operations.state', 'request_id'])
    .where('event_id', '=', id)
    .orderBy('position')
    .execute();
  expect(operations.map(({ operation, state }) => `${operation} ${state}`)).toEqual([
    ...['inspect ready', 'editor-preview skipped', 'pause skipped'],
    ...['cut waiting', 'encode skipped', 'publish skipped', 'encode waiting', 'publish skipped'],
    ...['preview', 'captions', 'editor-preview', 'pause', 'publish'].map((name) => `${name} waiting`),
    'publish skipped',
  ]);
  expect(operations[0]?.request_id).toBe('request-1');
  expect(await staged()).toBe(0);
});

test('of two uploads with the same identifier one wins, and nothing of the other stays', async () => {
  const fields = eventFields({ metadata: { identifier: 'chosen' } });
  const parts = [...fields, file('presenter', 'a.mp4', bytes(100_000))];
  const before = await counts(app);
  const answers = await Promise.all([post(app, parts), post(app, parts)]);
  expect(answers.map(({ status }) => status).sort()).toEqual([201, 409]);
  const loser = answers.find(({ status }) => status === 409);
  expect(await loser?.text()).toBe("An event with the identifier 'chosen' already exists.");
  expect(await counts(app)).toEqual({ events: before.events + 1, staged: 0, stored: before.stored + 1 });
});

describe('object storage that fails is told from a fault of the client', () => {
  /** Runs an upload that must change nothing. */
  async function expectFault(parts: readonly Part[], status: number, sentence: string): Promise<void> {
    const before = await counts(app);
    const answer = await post(app, parts);
    expect(await counts(app)).toEqual(before);
    expect([answer.status, await answer.text()]).toEqual([status, sentence]);
  }

  const fail = (message: string, code?: string) => async () => {
    throw storageRefused(Object.assign(new Error(message), { code }));
  };
  const failAfterSome: Put = (_key, body) =>
    new Promise((_, reject) => {
      if (!(body instanceof Readable)) throw new TypeError('no stream');
      body.once('data', () => {
        body.destroy(new Error('ECONNRESET'));
        reject(storageRefused(new Error('ECONNRESET')));
      });
    });
  const failAfterAll: Put = async (_key, body) => {
    for await (const _ of body);
    throw storageRefused(new Error('InternalError'));
  };

  test.each<[string, Put, number, string]>([
    ['refuses before it reads', fail('AccessDenied'), 503, NOT_STORED],
    ['refuses after some bytes, and destroys its source', failAfterSome, 503, NOT_STORED],
    ['refuses after it has read everything', failAfterAll, 503, NOT_STORED],
    ['is full', fail('no space', 'ENOSPC'), 507, 'The storage has too little free space for the recording.'],
  ])('when it %s', async (_name, fault, status, sentence) => {
    put = fault;
    // More than fits into the buffers between the socket and the storage.
    const parts = [...eventFields(), file('presenter', 'a.mp4', bytes(8 * 2 ** 20)), ...eventFields()];
    await expectFault(parts, status, sentence);
  });

  test('and a second track that cannot be stored takes the first with it', async () => {
    let stored = 0;
    put = async (...args) => {
      stored += 1;
      if (stored > 1) throw storageRefused(new Error('SlowDown'));
      await storage.put(...args);
    };
    const files = ['presenter', 'presentation'].map((name) => file(name, 'a.mp4', bytes(100_000)));
    await expectFault([...files, ...eventFields()], 503, NOT_STORED);
    expect(stored).toBe(2);
  });
});

test('an object that the storage may still store after it was given up is remembered', async () => {
  put = async (_key, _body, { onDoubt }) => {
    onDoubt?.();
    throw storageRefused(new Error('socket hang up'));
  };
  const remembered = async () =>
    (await database.selectFrom('staging').selectAll().execute()).filter(isRemembered).length;
  const before = await remembered();
  const answer = await post(app, [...eventFields(), file('presenter', 'a.mp4', bytes(1000))]);
  expect(answer.status).toBe(503);
  await context.staging.sweep(FOR_AGES);
  expect(await remembered()).toBe(before + 1);
});

test('an upload that was taken for dead and swept is not committed', async () => {
  put = async (...args) => {
    await storage.put(...args);
    await expireStaged();
    await context.staging.sweep(FOR_AGES);
  };
  const before = await counts(app);
  const answer = await post(app, [...eventFields(), file('presenter', 'a.mp4', bytes(1000))]);
  expect([answer.status, await answer.text()]).toEqual([503, NOT_STORED]);
  const { events, stored } = await counts(app);
  expect({ events, stored }).toEqual({ events: before.events, stored: before.stored });
});

test('an upload that was swept ends immediately, though its first file is stored and much is to come', async () => {
  const files = [file('presenter', 'a.mp4', bytes(100_000)), file('presentation', 'b.mp4', bytes(2 ** 20))];
  const { type, body } = form([...eventFields(), ...files]);
  const before = await staged();
  let cancelled = false;
  let sent = 0;
  const slow = new ReadableStream<Uint8Array>({
    pull: async (controller) => {
      const chunk = sent < 200_000 ? body.subarray(0, 200_000) : body.subarray(sent, sent + 100);
      sent += chunk.length;
      if (sent > 200_000) await pause(20);
      controller.enqueue(chunk);
      if (sent >= body.length) controller.close();
    },
    cancel: () => {
      cancelled = true;
    },
  });
  const answering = postStream('/api/events', type, slow);
  await eventually(async () => expect(await staged()).toBe(before + 2));
  await expireStaged();
  await context.staging.sweep(FOR_AGES);
  await context.staging.renew();
  const answer = await answering;
  expect([answer.status, answer.headers.get('Retry-After')]).toEqual([503, '30']);
  expect(cancelled).toBe(true);
  expect(sent).toBeLessThan(body.length);
});

describe('POST /api/events/{id}/track', () => {
  const VTT = Buffer.from('WEBVTT\n\n00:00.000 --> 00:01.000\nHello\n');
  const TAGS = 'archive,subtitle,type:subtitle,generator-type:manual';

  let event: string;
  beforeEach(async () => {
    event = await insertEvent(database);
  });

  const send = (parts: readonly Part[], { id = event, headers = {} as Record<string, string> } = {}) => {
    const { type, body } = form(parts);
    const init = { method: 'POST', headers: { 'Content-Type': type, ...headers }, body };
    return app.request(`/api/events/${id}/track`, init);
  };
  const expectTaken = async (parts: readonly Part[]) => expect((await send(parts)).status).toBe(200);

  const captions = (language: string, content: Uint8Array = VTT) => [
    field('flavor', 'captions/source'),
    field('tags', `${TAGS},lang:${language}`),
    field('overwriteExisting', 'true'),
    file('track', `${language}.vtt`, content),
  ];

  const tracks = () =>
    database.selectFrom('tracks').selectAll().where('event_id', '=', event).orderBy('position').execute();
  const filenames = async () => (await tracks()).map(({ filename }) => filename);

  const archiveVersion = async () => {
    const row = database.selectFrom('events').select('archive_version').where('id', '=', event);
    return (await row.executeTakeFirstOrThrow()).archive_version;
  };

  async function enter(processing_state: 'RUNNING' | 'PAUSED' | 'SUCCEEDED'): Promise<void> {
    await database.updateTable('events').set({ processing_state }).where('id', '=', event).execute();
  }

  /** Expects a refusal that changes nothing. */
  async function expectRefused(ask: () => Promise<Response>, status: number, sentence: string | RegExp) {
    const state = async () => [await counts(app), await archiveVersion(), await tracks()];
    const before = await state();
    const answer = await ask();
    const text = await answer.text();
    expect([answer.status, text]).toEqual([status, sentence instanceof RegExp ? text : sentence]);
    if (sentence instanceof RegExp) expect(text).toMatch(sentence);
    expect(await state()).toEqual(before);
  }

  test('captions become a track with its flavor and tags, and the archive version grows', async () => {
    const answer = await send(captions('de'));
    expect([answer.status, await answer.text()]).toEqual([200, '']);
    const said = { flavor: 'captions/source', tags: [...TAGS.split(','), 'lang:de'], filename: 'de.vtt' };
    const found = { position: 0, mediatype: 'text/vtt', size: VTT.length, sha256: sha256(VTT) };
    expect(await tracks()).toMatchObject([{ ...said, ...found }]);
    expect(await archiveVersion()).toBe(1);
    expect(await staged()).toBe(0);
  });

  test('the fields may follow the file, and the last of several counts', async () => {
    const content = bytes(200_000);
    const fields = [field('flavor', 'wrong'), field('tags', ' a , ,b,a'), field('flavor', 'presenter/source')];
    const parts = [file('track', 'a.mp4', content), ...fields];
    for (let i = 0; i < 2; i += 1) await expectTaken(parts);
    expect(await tracks()).toMatchObject([
      { position: 0, flavor: 'presenter/source', tags: ['a', 'b'], sha256: sha256(content), has_video: null },
      { position: 1, flavor: 'presenter/source' },
    ]);
  });

  test('overwriting replaces the tracks of the flavor in the language, and frees their objects', async () => {
    for (const language of ['de', 'en']) await send(captions(language));
    await send([field('flavor', 'presenter/source'), file('track', 'a.mp4', bytes(10))]);
    const [german, english] = await tracks();
    await expectTaken(captions('de', Buffer.from(`${VTT}\nnewer`)));
    expect((await tracks()).map(({ filename, position }) => [filename, position])).toEqual([
      ['en.vtt', 1],
      ['a.mp4', 2],
      ['de.vtt', 3],
    ]);
    await context.staging.sweep(FOR_AGES);
    await expect(storage.size(german?.object_key ?? '')).rejects.toThrow();
    expect(await storage.size(english?.object_key ?? '')).toBe(VTT.length);

    const everyLanguage = [field('flavor', 'captions/source'), field('overwriteExisting', 'true')];
    await expectTaken([...everyLanguage, file('track', 'x.vtt', VTT)]);
    expect(await filenames()).toEqual(['a.mp4', 'x.vtt']);
    expect(await archiveVersion()).toBe(5);
    expect(await staged()).toBe(2);
    await context.staging.sweep(FOR_AGES);
  });

  test('an empty field in place of the file removes the matching tracks', async () => {
    for (const language of ['de', 'en']) await send(captions(language));
    const remove = captions('de').map((part) => (part.name === 'track' ? field('track', '') : part));
    // The second time nothing is left to be removed.
    for (let i = 0; i < 2; i += 1) {
      await expectTaken(remove);
      expect(await filenames()).toEqual(['en.vtt']);
      expect(await archiveVersion()).toBe(3);
    }
    await context.staging.sweep(FOR_AGES);
  });

  test('tracks that come at once all stay, each in its place', async () => {
    const parts = [field('flavor', 'presenter/source'), file('track', 'a.mp4', bytes(1000))];
    await Promise.all(Array.from({ length: 5 }, () => expectTaken(parts)));
    expect((await tracks()).map(({ position }) => position)).toEqual([0, 1, 2, 3, 4]);
    expect(await archiveVersion()).toBe(5);
  });

  test('a workflow that is under way refuses a track with 409, one that has finished does not', async () => {
    const sentence = `Cannot update while a workflow is running on event '${event}'`;
    for (const state of ['RUNNING', 'PAUSED'] as const) {
      await enter(state);
      await expectRefused(() => send(captions('de')), 409, sentence);
    }
    await enter('SUCCEEDED');
    await expectTaken(captions('de'));
  });

  test('409 for a workflow that started while the file came in, and nothing of it stays', async () => {
    const { type, body } = form(captions('de', Buffer.concat([VTT, bytes(100_000)])));
    const before = await counts(app);
    let sent = 0;
    const stream = new ReadableStream<Uint8Array>({
      pull: async (controller) => {
        if (sent > 50_000) await enter('RUNNING');
        controller.enqueue(body.subarray(sent, sent + 20_000));
        sent += 20_000;
        if (sent >= body.length) controller.close();
      },
    });
    expect((await postStream(`/api/events/${event}/track`, type, stream)).status).toBe(409);
    expect(await counts(app)).toEqual(before);
  });

  test('404 for an event that is not there or not to be read, 401 for one not to be written', async () => {
    const roles = ['ROLE_API_EVENTS_TRACK_EDIT', 'ROLE_READER'];
    const headers = { Authorization: await app.account(`c-${randomUUID()}`, ...roles) };
    const refused = (status: number, sentence: string, id = event) =>
      expectRefused(() => send(captions('de'), { id, headers }), status, sentence);
    for (const id of [randomUUID(), event]) await refused(404, `Unable to find event with id '${id}'`, id);
    await giveAcl(app, event, [ace('ROLE_READER')]);
    await refused(401, 'unauthorized');
    await giveAcl(app, event, [ace('ROLE_READER'), ace('ROLE_READER', 'write')]);
    expect((await send(captions('de'), { headers })).status).toBe(200);
  });

  const SORT = field('flavor', 'a/b');
  test.each([
    ['no flavor', [file('track', 'a.vtt', VTT)], /^Could not parse flavor ; /],
    ['no file', [SORT, field('track', 'text')], /^Could not add track: the form holds no file/],
    ['a file in another part', [SORT, file('presenter', 'a', VTT)], /^Could not .*: the form holds no file/],
    ['an empty file', [SORT, file('track', 'a', Buffer.alloc(0))], /^Could not add track: The file 'a'/],
    ['two files', [SORT, file('track', 'a', VTT), file('track', 'b', VTT)], /^Could not .* form holds more/],
  ])('400 for %s', (_what, parts, sentence) => expectRefused(() => send(parts), 400, sentence));

  test.each([
    ['application/json', '{}'],
    ['application/x-www-form-urlencoded', 'flavor=a%2Fb'],
    ['multipart/form-data', 'x'],
    ['multipart/form-data; boundary=x', '--x\r\nContent-Disposition: form-data; name="flavor"\r\n\r\na/b'],
  ])('400 for a body of the type %s', (type, body) => {
    const init = { method: 'POST', headers: { 'Content-Type': type }, body };
    const ask = () => app.request(`/api/events/${event}/track`, init);
    return expectRefused(ask, 400, /^Could not add track: /);
  });
});

describe('MAX_PARALLEL_UPLOADS', async () => {
  const LARGE = bytes(12 * 2 ** 20);
  const SMALL = bytes(1000, 2);
  const OFFSET_STREAM = 'application/offset+octet-stream';
  const FORM = 'multipart/form-data; boundary=x';
  const REFUSED = {
    status: 503,
    body: 'The maximum number of concurrent uploads (1) is reached. Try again later.',
    headers: expect.objectContaining({ 'retry-after': '30', connection: 'close' }),
  };

  const product = createApp({ ...context, gate: new UploadLimiter(1) });
  const server = await serve(product.fetch, { host: '127.0.0.1', port: 0 });
  afterAll(() => server.destroy());
  const client = { url: `http://127.0.0.1:${server.port}`, authorization: ADMIN };
  /** The application with its limit, without a server. */
  const limited: TestApp = {
    ...app,
    request: async (path, init = {}) =>
      product.request(path, { ...init, headers: { Authorization: ADMIN, ...init.headers } }),
  };
  const scheduled = 'awaits-its-recording';
  const period = { start: '2024-05-06T08:00:00Z', end: '2024-05-06T09:00:00Z' };
  await insertScheduled(database, { agent_id: newAgent(), ...period }, { id: scheduled });

  const open = (parts: readonly Part[], { path = '/api/events', headers = {} } = {}) => {
    const { type, body } = form(parts);
    const upload = new OpenUpload(client, { type, length: body.length, path, headers });
    return {
      upload,
      begin: async (alreadyStaged = 0) => {
        await upload.write(body.subarray(0, 2 ** 20));
        await eventually(async () => expect(await staged()).toBe(alreadyStaged + 1), 20_000, 20);
      },
      finish: async () => {
        await upload.write(body.subarray(2 ** 20));
        upload.end();
        return (await upload.answer).status;
      },
    };
  };
  /** Sends everything without waiting for anything, as many clients do. */
  const sendAll = async (parts: readonly Part[], options: Parameters<typeof open>[1] = {}) => {
    const { type, body } = form(parts);
    const upload = new OpenUpload(client, { type, length: body.length, ...options });
    void upload.write(body);
    upload.end();
    return upload.answer;
  };
  const camera = (content: Uint8Array) => file('presenter', 'camera.mp4', content);

  describe('while as many uploads are under way as there may be', () => {
    let first: ReturnType<typeof open>;
    let ended: number | undefined;
    beforeEach(async () => {
      ended = undefined;
      first = open([...eventFields(), camera(LARGE)]);
      await first.begin();
    });
    afterEach(async () => {
      // The refused requests have not disturbed it.
      expect(ended ?? (await first.finish())).toBe(201);
      for (const { id } of await database.selectFrom('uploads').select('id').execute())
        await tus(app, 'DELETE', `/uploads/${id}`);
      await context.staging.sweep(undefined);
      await expectNothingLeftOver(app);
    });

    test.each([
      ['POST', '/api/events', FORM],
      ['POST', `/api/events/${scheduled}`, FORM],
      ['POST', `/api/events/${scheduled}/track`, FORM],
      ['POST', '/uploads', OFFSET_STREAM],
      ['PATCH', '/uploads/{id}', OFFSET_STREAM],
    ])('%s %s is refused before its body is read, and pages of trusted sites read that', async (...request) => {
      const [method, pattern, type] = request;
      const id = await begin(limited, LARGE.length);
      const path = pattern.replace('{id}', id);
      const tusHeaders = { 'Tus-Resumable': '1.0.0', 'Upload-Length': String(LARGE.length) };
      const headers = { Origin: SITE, 'Upload-Offset': '0', ...tusHeaders };
      const before = await counts(app);
      for (const length of [{ length: LARGE.length }, {}]) {
        const options = { method, path, type, headers, ...length };
        const waiting = new OpenUpload(client, { ...options, expect: '100-continue' });
        expect(await waiting.answer).toMatchObject(REFUSED);
        expect(waiting.asked).toBe(false);
        const hasty = new OpenUpload(client, options);
        void hasty.write(LARGE);
        const answer = await hasty.answer;
        expect(answer).toMatchObject(REFUSED);
        expect(answer.headers['access-control-allow-origin']).toBe(SITE);
        expect(answer.headers['access-control-expose-headers']).toContain('Retry-After');
      }
      expect(await counts(app)).toEqual(before);
      expect(await stateOf(limited, id)).toMatchObject({ status: 200, offset: 0 });
    });

    test('a small form is refused when its file comes, and nothing of it is kept', async () => {
      const before = await counts(app);
      for (const path of ['/api/events', `/api/events/${scheduled}`])
        expect(await sendAll([...eventFields(), camera(SMALL)], { path })).toMatchObject(REFUSED);
      const track = [field('flavor', 'captions/source'), file('track', 'de.vtt', SMALL)];
      expect(await sendAll(track, { path: `/api/events/${scheduled}/track` })).toMatchObject(REFUSED);
      expect(await counts(app)).toEqual(before);
    });

    test('requests without a recording are carried out', async () => {
      const scheduling = { agent_id: newAgent(), start: '2030-05-06T08:00:00Z', duration: 1000 };
      expect((await sendAll(scheduledFields(scheduling))).status).toBe(201);
      const metadata = '[{"flavor":"dublincore/episode","fields":[{"id":"title","value":"After"}]}]';
      const path = `/api/events/${scheduled}`;
      expect((await sendAll([field('metadata', metadata)], { path })).status).toBe(204);
      const id = await begin(limited, 10);
      expect((await stateOf(limited, id)).status).toBe(200);
      expect((await tus(limited, 'DELETE', `/uploads/${id}`)).status).toBe(204);
    });

    test('a refused request has not used its Idempotency-Key', async () => {
      const headers = { 'Idempotency-Key': randomUUID() };
      const small = [...eventFields(), camera(SMALL)];
      expect(await sendAll(small, { headers })).toMatchObject(REFUSED);
      ended = await first.finish();
      const made = await sendAll(small, { headers });
      expect(made).toMatchObject({ status: 201 });
      // To compare a repeated one takes reading it.
      const next = open([...eventFields(), camera(LARGE)]);
      await next.begin();
      expect(await sendAll(small, { headers })).toMatchObject(REFUSED);
      expect(await next.finish()).toBe(201);
      const again = await sendAll(small, { headers });
      expect(again).toMatchObject({ status: 201, body: made.body });
      expect(again.headers['idempotent-replayed']).toBe('true');
    });
  });

  test('a client that goes away makes room for another', async () => {
    const gone = open([...eventFields(), camera(LARGE)]);
    await gone.begin();
    gone.upload.cut();
    await eventually(async () => expect((await sendAll([...eventFields(), camera(SMALL)])).status).toBe(201));
  });

  test('finished uploads make an event without being counted as one', async () => {
    const id = await begin(limited, SMALL.length);
    expect((await append(limited, id, 0, SMALL)).status).toBe(204);
    const other = open([...eventFields(), camera(LARGE)]);
    await other.begin(1);
    const uploads = JSON.stringify([{ id, field: 'presenter' }]);
    expect((await sendAll([...eventFields(), field('uploads', uploads)])).status).toBe(201);
    other.upload.cut();
  });
});
