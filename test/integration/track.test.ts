import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createTestApp, type TestApp } from '../support/app.ts';
import { counts } from '../support/app-uploads.ts';
import { bytes, sha256 } from '../support/bytes.ts';
import { field, file, form, type Part } from '../support/form.ts';
import { insertEvent } from '../support/publication.ts';
import { FOR_AGES } from '../support/watched.ts';

const VTT = Buffer.from('WEBVTT\n\n00:00.000 --> 00:01.000\nHello\n');
const TAGS = 'archive,subtitle,type:subtitle,generator-type:manual';

let app: TestApp;
let event: string;
beforeAll(async () => {
  app = await createTestApp();
});
afterAll(() => app?.close());
beforeEach(async () => {
  event = await insertEvent(app.database);
});

const post = (parts: readonly Part[], { id = event, headers = {} as Record<string, string> } = {}) => {
  const { type, body } = form(parts);
  return app.request(`/api/events/${id}/track`, {
    method: 'POST',
    headers: { 'Content-Type': type, ...headers },
    body,
  });
};

const captions = (language: string, content: Uint8Array = VTT) => [
  field('flavor', 'captions/source'),
  field('tags', `${TAGS},lang:${language}`),
  field('overwriteExisting', 'true'),
  file('track', `${language}.vtt`, content),
];

const tracks = () =>
  app.database.selectFrom('tracks').selectAll().where('event_id', '=', event).orderBy('position').execute();

const archiveVersion = async () =>
  (
    await app.database
      .selectFrom('events')
      .select('archive_version')
      .where('id', '=', event)
      .executeTakeFirstOrThrow()
  ).archive_version;

async function grant(role: string, ...actions: string[]): Promise<void> {
  const entries = actions.map((action, position) => ({
    event_id: event,
    position,
    role,
    action,
    allow: true,
  }));
  await app.database.insertInto('event_acl').values(entries).execute();
}

async function enter(processing_state: 'RUNNING' | 'PAUSED' | 'SUCCEEDED'): Promise<void> {
  await app.database.updateTable('events').set({ processing_state }).where('id', '=', event).execute();
}

/** Sends what must be refused, and expects that nothing has changed. */
async function refused(answer: () => Promise<Response>): Promise<[number, string]> {
  const before = [await counts(app), await archiveVersion(), await tracks()];
  const { status, ...rest } = await answer().then(async (got) => ({
    status: got.status,
    text: await got.text(),
  }));
  expect([await counts(app), await archiveVersion(), await tracks()]).toEqual(before);
  return [status, rest.text];
}

describe('POST /api/events/{id}/track', () => {
  test('captions become a track with its flavor and tags, and the archive version grows', async () => {
    const answer = await post(captions('de'));
    expect([answer.status, await answer.text()]).toEqual([200, '']);
    expect(await tracks()).toMatchObject([
      {
        position: 0,
        flavor: 'captions/source',
        tags: [...TAGS.split(','), 'lang:de'],
        filename: 'de.vtt',
        mediatype: 'text/vtt',
        size: VTT.length,
        sha256: sha256(VTT),
      },
    ]);
    expect(await archiveVersion()).toBe(1);
    expect((await counts(app)).staged).toBe(0);
  });

  test('the fields may follow the file, and the last of several counts', async () => {
    const content = bytes(200_000);
    const parts = [
      file('track', 'a.mp4', content),
      field('flavor', 'wrong'),
      field('tags', ' a , ,b,a'),
      field('flavor', 'presenter/source'),
    ];
    expect((await post(parts)).status).toBe(200);
    expect((await post(parts)).status).toBe(200);
    expect(await tracks()).toMatchObject([
      { position: 0, flavor: 'presenter/source', tags: ['a', 'b'], sha256: sha256(content), has_video: null },
      { position: 1, flavor: 'presenter/source' },
    ]);
  });

  test('overwriting replaces the tracks of the flavor in the language, and frees their objects', async () => {
    await post(captions('de'));
    await post(captions('en'));
    await post([field('flavor', 'presenter/source'), file('track', 'a.mp4', bytes(10))]);
    const [german, english] = await tracks();
    const newer = Buffer.from(`${VTT}\nnewer`);
    expect((await post(captions('de', newer))).status).toBe(200);
    expect((await tracks()).map(({ filename, position }) => [filename, position])).toEqual([
      ['en.vtt', 1],
      ['a.mp4', 2],
      ['de.vtt', 3],
    ]);
    await app.context.staging.sweep(FOR_AGES);
    await expect(app.storage.size(german?.object_key ?? '')).rejects.toThrow();
    expect(await app.storage.size(english?.object_key ?? '')).toBe(VTT.length);

    const everyLanguage = [field('flavor', 'captions/source'), field('overwriteExisting', 'true')];
    expect((await post([...everyLanguage, file('track', 'x.vtt', VTT)])).status).toBe(200);
    expect((await tracks()).map(({ filename }) => filename)).toEqual(['a.mp4', 'x.vtt']);
    expect(await archiveVersion()).toBe(5);
    expect((await counts(app)).staged).toBe(2);
    await app.context.staging.sweep(FOR_AGES);
  });

  test('an empty field in place of the file removes the matching tracks', async () => {
    await post(captions('de'));
    await post(captions('en'));
    const remove = captions('de').map((part) => (part.name === 'track' ? field('track', '') : part));
    expect((await post(remove)).status).toBe(200);
    expect((await tracks()).map(({ filename }) => filename)).toEqual(['en.vtt']);
    expect(await archiveVersion()).toBe(3);
    // Again there is nothing to be removed.
    expect((await post(remove)).status).toBe(200);
    expect(await archiveVersion()).toBe(3);
    await app.context.staging.sweep(FOR_AGES);
  });

  test('tracks that come at once all stay, each in its place', async () => {
    const parts = [field('flavor', 'presenter/source'), file('track', 'a.mp4', bytes(1000))];
    const answers = await Promise.all(Array.from({ length: 8 }, () => post(parts)));
    expect(answers.map(({ status }) => status)).toEqual(Array(8).fill(200));
    expect((await tracks()).map(({ position }) => position)).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
    expect(await archiveVersion()).toBe(8);
  });

  test.each(['RUNNING', 'PAUSED'] as const)('409 while a workflow is %s', async (state) => {
    await enter(state);
    expect(await refused(() => post(captions('de')))).toEqual([
      409,
      `Cannot update while a workflow is running on event '${event}'`,
    ]);
  });

  test("a workflow that is over is in nobody's way", async () => {
    await enter('SUCCEEDED');
    expect((await post(captions('de'))).status).toBe(200);
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
    const init = { method: 'POST', headers: { 'Content-Type': type }, body: stream, duplex: 'half' };
    const answer = await app.request(`/api/events/${event}/track`, init as RequestInit);
    expect(answer.status).toBe(409);
    expect(await counts(app)).toEqual(before);
  });

  test('404 for an event that is not there or not to be read, 401 for one not to be written', async () => {
    const caller = await app.account(`c-${randomUUID()}`, 'ROLE_API_EVENTS_TRACK_EDIT', 'ROLE_READER');
    const headers = { Authorization: caller };
    const missing = randomUUID();
    expect(await refused(() => post(captions('de'), { id: missing }))).toEqual([
      404,
      `Unable to find event with id '${missing}'`,
    ]);
    expect(await refused(() => post(captions('de'), { headers }))).toEqual([
      404,
      `Unable to find event with id '${event}'`,
    ]);
    await grant('ROLE_READER', 'read');
    expect(await refused(() => post(captions('de'), { headers }))).toEqual([401, 'unauthorized']);
    await app.database.deleteFrom('event_acl').where('event_id', '=', event).execute();
    await grant('ROLE_READER', 'read', 'write');
    expect((await post(captions('de'), { headers })).status).toBe(200);
  });

  test.each([
    ['no flavor', [file('track', 'a.vtt', VTT)], /^Could not parse flavor ; /],
    [
      'no file',
      [field('flavor', 'a/b'), field('track', 'text')],
      /^Could not add track: the form holds no file/,
    ],
    [
      'a file in another part',
      [field('flavor', 'a/b'), file('presenter', 'a', VTT)],
      /^Could not add track: the form holds no file/,
    ],
    [
      'an empty file',
      [field('flavor', 'a/b'), file('track', 'a', Buffer.alloc(0))],
      /^Could not add track: The file 'a'/,
    ],
    [
      'two files',
      [field('flavor', 'a/b'), file('track', 'a', VTT), file('track', 'b', VTT)],
      /^Could not add track: the form holds more/,
    ],
  ])('400 for %s', async (_what, parts, sentence) => {
    const [status, text] = await refused(() => post(parts));
    expect(status).toBe(400);
    expect(text).toMatch(sentence);
  });

  test.each([
    ['application/json', '{}'],
    ['application/x-www-form-urlencoded', 'flavor=a%2Fb'],
    ['multipart/form-data', 'x'],
    ['multipart/form-data; boundary=x', '--x\r\nContent-Disposition: form-data; name="flavor"\r\n\r\na/b'],
  ])('400 for a body of the type %s', async (type, body) => {
    const [status, text] = await refused(() =>
      app.request(`/api/events/${event}/track`, { method: 'POST', headers: { 'Content-Type': type }, body }),
    );
    expect(status).toBe(400);
    expect(text).toMatch(/^Could not add track: /);
  });
});
