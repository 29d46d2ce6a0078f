import { sql } from 'kysely';
import pino from 'pino';
import * as tus from 'tus-js-client';
import { afterAll, describe, expect, test } from 'vitest';
import type { Directory } from '#access/accounts/directory.ts';
import { completeDirectUpload, sweepDirectUploads } from '#ingest/direct/direct-completion.ts';
import { directDraft, startOver } from '#ingest/direct/direct-uploads.ts';
import { discardDraft, expireDrafts } from '#ingest/drafts.ts';
import { expireUploads } from '#ingest/tus/tus-uploads.ts';
import { bytes, readAll, sha256 } from '../support/bytes.ts';
import { sendForm } from '../support/event-writes.ts';
import { eventually } from '../support/eventually.ts';
import { eventFields, field, form, type Part } from '../support/form.ts';
import { expectNothingLeftOver } from '../support/leftovers.ts';
import { untilOneWaits } from '../support/lock-waits.ts';
import { checkAnswer } from '../support/openapi.ts';
import { reconcileUntil } from '../support/reconciling.ts';
import { serveApp } from '../support/serve-uploads.ts';

const MIB = 2 ** 20;
const SITE = 'https://learn.example.org';
const STREAM = { 'Content-Type': 'application/offset+octet-stream', 'Upload-Offset': '0' };
const CREATES = 'ROLE_API_EVENTS_CREATE';
const BOTH = { files: 'presenter,presentation' };

const log: string[] = [];
const logger = pino({ level: 'trace' }, { write: (line) => void log.push(line) });
const { app, admin, close } = await serveApp({ CORS_ORIGINS: SITE }, undefined, { log: logger });
afterAll(close);
const { database, context } = app;

/** What addresses are asked for with: fields beside those of an event, and other parts and headers. */
type HandOut = [
  more?: Readonly<Record<string, string>>,
  how?: { parts?: readonly Part[]; headers?: Record<string, string> },
];
type Addresses = { id: string; url: string; urls: string[] };

/** Asks for addresses; as the administrator unless the headers say otherwise. */
function ask(...[more = {}, { parts = eventFields(), headers = {} } = {}]: HandOut): Promise<Response> {
  const extra = Object.entries(more).map(([name, value]) => field(name, value));
  const { type, body } = form([...parts, ...extra]);
  return app.request('/api/uploads', { method: 'POST', headers: { 'Content-Type': type, ...headers }, body });
}

async function handOut(...about: HandOut): Promise<Addresses> {
  const answer = await ask(...about);
  const text = await answer.text();
  expect(answer.status, text).toBe(201);
  const { identifier: id, files } = JSON.parse(text) as { identifier: string; files: { url: string }[] };
  return { id, url: files[0]?.url ?? '', urls: files.map(({ url }) => url) };
}

/** The state of a direct upload as its account sees it. */
async function stateOf(id: string, headers: Record<string, string> = {}) {
  const answer = await app.request(`/api/uploads/${id}`, { headers });
  const text = await answer.text();
  return { status: answer.status, ...(answer.status === 200 && JSON.parse(text)) };
}

const takeBackAs = async (id: string, headers: Record<string, string> = {}) =>
  (await app.request(`/api/uploads/${id}`, { method: 'DELETE', headers })).status;

/** Sends all of it by tus-js-client. @returns the identifier of the event, if the last answer holds one */
function sendAll(content: Buffer, options: tus.UploadOptions): Promise<string | undefined> {
  return new Promise((resolve, reject) => {
    const upload = new tus.Upload(content as unknown as Blob, {
      retryDelays: [],
      ...options,
      onError: reject,
      onSuccess: ({ lastResponse }) => resolve(lastResponse.getHeader('Inlet-Event-Id')),
    });
    upload.start();
  });
}

/** Takes an address for an upload that exists. */
const asUpload = (url: string): tus.UploadOptions => ({ uploadUrl: url, uploadLengthDeferred: true });
/** Takes an address for a place to begin an upload. */
const asEndpoint = (url: string) => ({ endpoint: url, metadata: { filename: 'Vorlesung ü.mp4' } });

/** One request of the protocol. Fails for answers that the OpenAPI document forbids. */
async function tusRequest(
  method: string,
  url: string,
  headers: Record<string, string> = {},
  body?: Uint8Array | ReadableStream,
): Promise<Response> {
  const init = { method, headers: { 'Tus-Resumable': '1.0.0', ...headers }, body, duplex: 'half' };
  const answer = await fetch(url, init as RequestInit);
  await checkAnswer(method, new URL(url).pathname, answer);
  return answer;
}

/** Sends all of it in one request. */
const patchAll = (url: string, content: Uint8Array, more: Record<string, string> = {}) =>
  tusRequest('PATCH', url, { ...STREAM, 'Upload-Length': String(content.length), ...more }, content);

async function sendFile(url: string, size: number): Promise<void> {
  expect((await patchAll(url, bytes(size))).status).toBe(204);
}

/** Sends a part of a file whose length nobody knows yet. */
async function sendPart(url: string, size: number, seed?: number): Promise<void> {
  expect((await tusRequest('PATCH', url, STREAM, bytes(size, seed))).status).toBe(204);
}

const offsetOf = async (url: string) => (await tusRequest('HEAD', url)).headers.get('Upload-Offset');

/** Expects this status for whatever is done with an address. */
async function expectStatus(url: string, status: number): Promise<void> {
  for (const method of ['HEAD', 'POST', 'DELETE']) {
    const answer = await tusRequest(method, url, { 'Upload-Length': '9' });
    expect([method, answer.status]).toEqual([method, status]);
  }
  expect((await patchAll(url, bytes(9))).status).toBe(status);
}

/** The first upload of a direct upload. */
const uploadOf = (directId: string) =>
  database
    .selectFrom('uploads')
    .innerJoin('draft_uploads', 'upload_id', 'uploads.id')
    .select(['uploads.id', 'uploads.expires_at'])
    .where('draft_id', '=', directId)
    .executeTakeFirstOrThrow();

const uploadIds = async (directId: string) => {
  const files = database.selectFrom('draft_uploads').select('upload_id');
  return (await files.where('draft_id', '=', directId).execute()).map(({ upload_id }) => upload_id);
};

const tracksOf = (eventId = '') =>
  database
    .selectFrom('tracks')
    .select(['flavor', 'filename', 'size', 'sha256', 'object_key'])
    .where('event_id', '=', eventId)
    .orderBy('position')
    .execute();

/** Expects that exactly one event is made. */
async function expectOneEvent(run: () => Promise<void>): Promise<void> {
  const before = await countEvents();
  await run();
  expect(await countEvents()).toBe(before + 1);
}

const seen = async (answer: Response | undefined) => [answer?.status, await answer?.text()];
const countEvents = async () => (await database.selectFrom('events').select('id').execute()).length;

describe('an address', () => {
  test.each([
    ['an upload that exists, in one request', asUpload, 100 * MIB],
    ['a place to begin one, in chunks', asEndpoint, 5 * MIB],
  ] as const)('takes a file of tus-js-client without an account as %s', async (_how, options, chunkSize) => {
    const data = bytes(12 * MIB + 3);
    const { id, url } = await handOut();
    expect(await stateOf(id)).toMatchObject({ state: 'waiting', files: [{ offset: 0, length: null }] });
    const eventId = await sendAll(data, { ...options(url), chunkSize });
    expect(await stateOf(id)).toMatchObject({
      state: 'finished',
      event_identifier: eventId,
      files: [{ field: 'presenter', length: data.length, offset: data.length }],
    });
    const [track, ...others] = await tracksOf(eventId);
    expect(others).toEqual([]);
    expect(track).toMatchObject({ flavor: 'presenter/source', size: data.length, sha256: sha256(data) });
    expect(sha256(await readAll(await app.storage.get(track?.object_key ?? '')))).toBe(sha256(data));
  });

  test('that gets the last of two files makes the event', async () => {
    const fields = { files: '["presenter",{"flavor":"presentation/source"}]' };
    const { id, urls } = await handOut(fields, { parts: eventFields({ title: 'Two files' }) });
    const [first = '', second = ''] = urls;
    expect(await sendAll(bytes(500), asEndpoint(second))).toBeUndefined();
    // It takes no other file of the same direct upload.
    expect((await patchAll(second, bytes(500))).status).toBe(409);
    const arrived = { flavor: 'presentation/source', filename: 'Vorlesung ü.mp4', offset: 500 };
    expect(await stateOf(id)).toMatchObject({ state: 'uploading', files: [{ offset: 0 }, arrived] });
    const eventId = await sendAll(bytes(700), asUpload(first));
    expect((await tracksOf(eventId)).map(({ flavor, filename }) => [flavor, filename])).toEqual([
      ['presenter/source', 'presenter'],
      ['presentation/source', 'Vorlesung ü.mp4'],
    ]);
    const event = await (await app.request(`/api/events/${eventId}`)).json();
    const expected = { title: 'Two files', creator: 'Administrator', processing_state: 'INSTANTIATED' };
    expect(event).toMatchObject(expected);
  });

  test('answers with the event after the end', async () => {
    const { url } = await handOut();
    const last = await patchAll(url, bytes(10));
    const eventId = last.headers.get('Inlet-Event-Id');
    expect([last.status, eventId]).toEqual([204, expect.any(String)]);
    for (const method of ['HEAD', 'POST']) {
      const answer = await tusRequest(method, url, { 'Upload-Length': '10' });
      expect(answer.headers.get('Inlet-Event-Id')).toBe(eventId);
    }
    expect((await patchAll(url, bytes(10))).status).toBe(409);
    expect((await tusRequest('DELETE', url)).status).toBe(409);
  });

  const begin = (url: string, length: number, more = {}, body?: Uint8Array) =>
    tusRequest('POST', url, { 'Upload-Length': String(length), ...more }, body);

  test('leads to one upload, however often it begins, and refuses another length until that is given up', async () => {
    const { url } = await handOut();
    for (let i = 0; i < 2; i += 1) {
      const answer = await begin(url, 10);
      expect([answer.status, answer.headers.get('Location')]).toEqual([201, url]);
    }
    for (let i = 0; i < 2; i += 1) {
      const answer = await begin(url, 10, { 'Content-Type': STREAM['Content-Type'] }, bytes(4));
      expect([answer.status, answer.headers.get('Upload-Offset')]).toEqual([201, '4']);
    }
    expect(await offsetOf(url)).toBe('4');
    const other = await begin(url, 11);
    const sentence = 'An upload of 10 bytes exists at this URL. Continue or delete it.';
    expect(await seen(other)).toEqual([409, sentence]);
    expect((await tusRequest('DELETE', url)).status).toBe(204);
    expect(await sendAll(bytes(11), asEndpoint(url))).toEqual(expect.any(String));
  });

  test('takes POST with a header in place of PATCH', async () => {
    const { id, url } = await handOut();
    const eventId = await sendAll(bytes(20), { ...asEndpoint(url), overridePatchMethod: true });
    expect(await stateOf(id)).toMatchObject({ state: 'finished', event_identifier: eventId });
  });

  test('lets browsers of configured sites upload and read the event, whatever account they remember', async () => {
    const { url } = await handOut();
    const asking = { Origin: SITE, 'Access-Control-Request-Method': 'PATCH' };
    const asked = await fetch(url, { method: 'OPTIONS', headers: asking });
    expect(asked.headers.get('Access-Control-Allow-Origin')).toBe(SITE);
    expect(asked.headers.get('Access-Control-Allow-Methods')).toContain('PATCH');
    const remembered = { Cookie: 'inlet-session=x', Authorization: 'Basic eA==' };
    const fromSite = { Origin: SITE, 'Sec-Fetch-Site': 'cross-site' };
    const answer = await patchAll(url, bytes(5), { ...fromSite, ...remembered });
    expect([answer.status, answer.headers.get('Access-Control-Allow-Origin')]).toEqual([204, SITE]);
    expect(answer.headers.get('Access-Control-Expose-Headers')).toContain('Inlet-Event-Id');
  });

  test('refuses browsers of other sites', async () => {
    const { url } = await handOut();
    expect((await patchAll(url, bytes(5), { Origin: 'https://elsewhere.example.org' })).status).toBe(403);
    expect(await offsetOf(url)).toBe('0');
  });

  test.each(['guessed', 'A'.repeat(43), '%00', 'x'.repeat(5000), '..%2fuploads'])(
    'that nobody handed out leads nowhere: %j',
    async (token) => {
      const url = `${admin.url}/direct-uploads/${token}`;
      await expectStatus(url, 404);
      expect((await tusRequest('OPTIONS', url)).status).toBe(404);
    },
  );
});

describe('asking for addresses', () => {
  const NOT_BYTES = /allowed is a whole number of bytes from 1 to 107374182400\.$/;
  const NO_TIME = /; allowed is a whole number of seconds from 1 to 172800, or /;
  test.each([
    [{ maxBytes: 'x' }, /^The field 'maxBytes' is "x"; allowed is a whole number of bytes from 1 to /],
    [{ maxBytes: '0' }, NOT_BYTES],
    [{ maxBytes: '107374182401' }, NOT_BYTES],
    [{ expires: '0' }, /^The field 'expires' is "0"; allowed is a whole number of seconds from 1 to 172800/],
    [{ expires: '172801' }, NO_TIME],
    [{ expires: '2020-01-01T00:00:00Z' }, NO_TIME],
    [{ expires: '2999-01-01T00:00:00Z' }, NO_TIME],
    [{ files: 'camera' }, /^The field 'files' cannot be read: "camera" is not allowed\. Allowed are /],
    [{ files: 'presenter,' }, /"" is not allowed/],
    [{ files: '[' }, /it is not valid JSON/],
    [{ files: '[]' }, /it must name 1 to 10 files/],
    [{ files: '[1]' }, /1 is not allowed/],
    [{ files: `${'['.repeat(9_000)}${']'.repeat(9_000)}` }, /item 1 is not allowed/],
    [{ files: '["audio",{}]' }, /item 2 is not allowed/],
    [{ files: '[{"field":"__proto__"}]' }, /item 1 is not allowed/],
    [{ files: '[{"flavor":"presenter"}]' }, /item 1 is not allowed/],
    [{ files: Array(11).fill('presenter').join(',') }, /it must name 1 to 10 files/],
    [{ scheduling: '{"agent_id":"hall"}' }, /^The part 'scheduling' is not allowed/],
  ])('with %j is refused with a sentence', async (fields: Record<string, string>, sentence) => {
    expect(await seen(await ask(fields))).toEqual([400, expect.stringMatching(sentence)]);
  });

  test('takes the largest size, the longest time and the most files that are allowed', async () => {
    const files = Array(10).fill('presenter').join(',');
    const { urls } = await handOut({ maxBytes: '107374182400', expires: '172800', files });
    expect(urls).toHaveLength(10);
  });

  test.each([
    ['a broken acl', [field('acl', 'x')]],
    ['no metadata', eventFields().filter(({ name }) => name !== 'metadata')],
    ['no workflow', [...eventFields().slice(0, 2), field('processing', '{}')]],
    ['a series that does not exist', eventFields({ metadata: { isPartOf: 'nowhere' } })],
    ['a character that cannot be stored', eventFields({ title: 'a\u0000b' })],
  ])('with %s is refused as for an event', async (_what, parts) => {
    const direct = await ask({}, { parts });
    const event = await sendForm(app, '/api/events', parts);
    expect(await seen(direct)).toEqual([400, event.text]);
  });

  test('for an identifier that is taken is refused, and makes no event before', async () => {
    const parts = eventFields({ metadata: { identifier: 'taken-already' } });
    const before = await countEvents();
    const { url } = await handOut({}, { parts });
    expect(await countEvents()).toBe(before);
    expect(await sendAll(bytes(3), asUpload(url))).toBe('taken-already');
    expect((await ask({}, { parts })).status).toBe(409);
  });

  test('takes a date as well as seconds', async () => {
    const expires = new Date(Date.now() + 3_600_000);
    const { id } = await handOut({ expires: expires.toISOString(), files: 'presenter, audio' });
    expect(await stateOf(id)).toMatchObject({
      expires: `${expires.toISOString().slice(0, 19)}Z`,
      files: [{ flavor: 'presenter/source' }, { flavor: 'presenter-audio/source' }],
    });
  });
});

describe('a direct upload', () => {
  test('is known to the account that asked and to administrators; to others it does not exist', async () => {
    const mine = { Authorization: await app.account('lms', CREATES) };
    const other = { Authorization: await app.account('other', CREATES) };
    const { id } = await handOut({}, { headers: mine });
    expect((await stateOf(id, mine)).status).toBe(200);
    expect((await stateOf(id)).status).toBe(200);
    expect((await stateOf(id, other)).status).toBe(404);
    expect(await takeBackAs(id, other)).toBe(404);
  });

  test('is nobody’s upload elsewhere', async () => {
    const headers = { Authorization: await app.account('lms2', CREATES), 'Tus-Resumable': '1.0.0' };
    const { id, url } = await handOut({}, { headers: { Authorization: headers.Authorization } });
    const token = url.split('/').at(-1) ?? '';
    for (const path of [`/uploads/${token}`, `/uploads/${id}`, `/api/uploads/${token}`])
      expect((await app.request(path, { method: 'HEAD', headers })).status).toBe(404);
  });

  test('makes an event of the user and with the roles that it was asked as', async () => {
    await app.account('teacher', CREATES);
    const headers = { 'X-RUN-AS-USER': 'teacher', 'X-RUN-WITH-ROLES': 'ROLE_OF_A_COURSE' };
    const { id, url } = await handOut({}, { headers });
    const eventId = await sendAll(bytes(5), asUpload(url));
    expect(await stateOf(id)).toMatchObject({ state: 'finished' });
    expect(await (await app.request(`/api/events/${eventId}`)).json()).toMatchObject({ creator: 'teacher' });
  });
});

describe('the event of a direct upload is made once', () => {
  const occasion = () => ({ requestId: 'test', log: context.log });
  const finish = (id: string) => completeDirectUpload(context, id, occasion());
  const sweep = () => sweepDirectUploads({ ...context }, 0);

  /** All bytes have come, and the process was killed before it made the event. */
  async function killed(direct: Addresses, { noted = true } = {}): Promise<void> {
    // The upload is not complete as long as one more file is awaited.
    const awaited = { position: 99, token_sha256: '0'.repeat(64), flavor: 'never/comes' };
    await database
      .insertInto('draft_uploads')
      .values({ draft_id: direct.id, upload_id: 'never-comes-at-all', ...awaited })
      .execute();
    for (const url of direct.urls) await sendFile(url, 100);
    await database.deleteFrom('draft_uploads').where('position', '=', 99).execute();
    if (noted) return;
    // As a folder is after the object was made and before that was noted.
    const files = database.updateTable('uploads').set({ completed_at: null, mediatype: null, sha256: null });
    await files.where('id', 'in', await uploadIds(direct.id)).execute();
  }

  /** Lets the loop of a worker run until it has made the event. */
  async function workers({ id }: Addresses): Promise<void> {
    await sql`UPDATE uploads SET changed_at = to_timestamp(0)`.execute(database);
    await reconcileUntil(app, async () => expect(await stateOf(id)).toMatchObject({ state: 'finished' }));
  }

  test.each<[string, (direct: Addresses) => Promise<unknown>]>([
    ['a question for its address', ({ url }) => tusRequest('HEAD', url)],
    [
      'the last request, sent again',
      ({ url }) => tusRequest('PATCH', url, { ...STREAM, 'Upload-Offset': '100' }, new Uint8Array()),
    ],
    ['the workers', workers],
  ])('by %s when the process was killed after the last byte', async (_who, way) => {
    const direct = await handOut(BOTH);
    await killed(direct);
    await expectOneEvent(async () => {
      for (let i = 0; i < 2; i += 1) await way(direct);
    });
    expect(await stateOf(direct.id)).toMatchObject({ state: 'finished' });
  });

  test('also when it was not noted that the object is whole, and not by a question of the account', async () => {
    const direct = await handOut();
    await killed(direct, { noted: false });
    const before = await countEvents();
    expect(await stateOf(direct.id)).toMatchObject({ status: 200, state: 'uploading' });
    expect(await countEvents()).toBe(before);
    await expectOneEvent(async () => expect(await sweep()).toBe(1));
    expect(await stateOf(direct.id)).toMatchObject({ state: 'finished' });
  });

  test('however many make it at the same moment', async () => {
    const direct = await handOut(BOTH);
    await killed(direct);
    await expectOneEvent(async () => {
      const results = await Promise.all(Array.from({ length: 8 }, () => finish(direct.id)));
      expect(new Set(results.map((result) => result?.accepted?.eventId)).size).toBe(1);
      expect(results[0]?.failure).toBeUndefined();
    });
  });

  test.each([
    ['made', (name: string) => context.directory.findPrincipal(name)],
    ['refused', async () => undefined],
  ])('and not of a file that is given up while it is being %s', async (_, found: Directory['findPrincipal']) => {
    const direct = await handOut();
    await killed(direct);
    // The author is looked up after the files are complete, and before the event is made.
    const findPrincipal: Directory['findPrincipal'] = async (username) => {
      expect((await tusRequest('DELETE', direct.url)).status).toBe(204);
      return found(username);
    };
    const now = await completeDirectUpload({ ...context, directory: { findPrincipal } }, direct.id, occasion());
    expect(now).toMatchObject({ failure: undefined, accepted: undefined });
    expect((await patchAll(direct.url, bytes(30))).headers.get('Inlet-Event-Id')).toEqual(expect.any(String));
  });

  test('of two last files that end at the same moment, and one answer at least holds it', async () => {
    for (let i = 0; i < 3; i += 1)
      await expectOneEvent(async () => {
        const { id, urls } = await handOut(BOTH);
        const answers = await Promise.all(urls.map((url) => patchAll(url, bytes(1000))));
        expect(answers.map(({ status }) => status)).toEqual([204, 204]);
        const ids = answers.flatMap(({ headers }) => headers.get('Inlet-Event-Id') ?? []);
        expect(new Set(ids).size).toBe(1);
        expect(await stateOf(id)).toMatchObject({ state: 'finished', event_identifier: ids[0] });
      });
  });

  test('of one file whose last bytes come twice', async () => {
    const { id, url } = await handOut();
    await expectOneEvent(async () => {
      const answers = await Promise.all([patchAll(url, bytes(5000)), patchAll(url, bytes(5000))]);
      expect(answers.map(({ status }) => status).sort()[0]).toBe(204);
    });
    expect(await stateOf(id)).toMatchObject({ state: 'finished', files: [{ offset: 5000 }] });
  });

  describe('or cannot be made', () => {
    const NONE =
      'All files were received, but no event could be created. The account that requested this URL can read the reason.';

    /** Sends the last file. @returns the identifier of its upload */
    async function expectFailed({ id, url }: Addresses, reason: RegExp): Promise<string> {
      expect(await seen(await patchAll(url, bytes(20)))).toEqual([422, NONE]);
      for (const method of ['HEAD', 'POST', 'PATCH'])
        expect((await tusRequest(method, url, { 'Upload-Length': '20', ...STREAM })).status).toBe(422);
      const state = await stateOf(id);
      expect(state).toMatchObject({ state: 'failed', reason: expect.stringMatching(reason) });
      expect(await sweep()).toBe(0);
      return state.files[0].upload_identifier;
    }

    async function makeSeries(role: string) {
      const metadata = [{ flavor: 'dublincore/series', fields: [{ id: 'title', value: 'Course' }] }];
      const made = await sendForm(app, '/api/series', [
        field('metadata', JSON.stringify(metadata)),
        field('acl', JSON.stringify([{ role, action: 'read', allow: true }])),
      ]);
      const { identifier } = JSON.parse(made.text) as { identifier: string };
      return { identifier, parts: eventFields({ metadata: { isPartOf: identifier } }) };
    }

    test('since its series has been deleted, and the upload can still be used', async () => {
      const { identifier, parts } = await makeSeries('ROLE_COURSE');
      const direct = await handOut({}, { parts });
      expect((await app.request(`/api/series/${identifier}`, { method: 'DELETE' })).status).toBe(204);
      const upload = await expectFailed(direct, new RegExp(identifier));
      const uploads = JSON.stringify([{ id: upload, field: 'presenter' }]);
      const saved = await sendForm(app, '/api/events', [...eventFields(), field('uploads', uploads)]);
      expect(saved.status, saved.text).toBe(201);
    });

    test('since the account is gone', async () => {
      const Authorization = await app.account('leaves', CREATES);
      const direct = await handOut({}, { headers: { Authorization } });
      await database.deleteFrom('accounts').where('username', '=', 'leaves').execute();
      await expectFailed(direct, /The account 'leaves' .* no longer exists\./);
      expect(await takeBackAs(direct.id)).toBe(204);
    });

    test('since the account may not see the series any more', async () => {
      const Authorization = await app.account('loses', CREATES, 'ROLE_COURSE');
      const { identifier, parts } = await makeSeries('ROLE_COURSE');
      const direct = await handOut({}, { parts, headers: { Authorization } });
      const account = database.updateTable('accounts').set({ roles: [CREATES] });
      await account.where('username', '=', 'loses').execute();
      await expectFailed(direct, new RegExp(identifier));
    });

    test('since the identifier was taken in between', async () => {
      const parts = eventFields({ metadata: { identifier: 'wanted-by-two' } });
      const [first, second] = [await handOut({}, { parts }), await handOut({}, { parts })];
      expect((await patchAll(first.url, bytes(20))).headers.get('Inlet-Event-Id')).toBe('wanted-by-two');
      await expectFailed(second, /wanted-by-two/);
    });
  });
});

describe('limits', () => {
  test('a file that is declared to be larger than allowed is refused, and nothing is kept of it', async () => {
    const { url } = await handOut({ maxBytes: '1000' });
    const sentence = 'Upload-Length must be at most 1000.';
    expect(await seen(await tusRequest('POST', url, { 'Upload-Length': '1001' }))).toEqual([413, sentence]);
    expect(await seen(await patchAll(url, bytes(1001)))).toEqual([413, sentence]);
    expect(await offsetOf(url)).toBe('0');
    expect(await sendAll(bytes(1000), asUpload(url))).toEqual(expect.any(String));
  });

  test('a file without a declared length ends where it is too long', async () => {
    const { id, url } = await handOut({ maxBytes: '1000' });
    const endless = new ReadableStream({ pull: (controller) => controller.enqueue(bytes(600)) });
    const answer = await tusRequest('PATCH', url, STREAM, endless).catch(() => undefined);
    if (answer) expect(answer.status).toBe(413);
    const { state, files } = await stateOf(id);
    expect(state).not.toBe('finished');
    expect(files[0].offset).toBeLessThanOrEqual(1000);
  });

  test('an empty file is refused, and the address is still good', async () => {
    const { url } = await handOut();
    for (const method of ['POST', 'PATCH']) {
      const answer = await tusRequest(method, url, { ...STREAM, 'Upload-Length': '0' });
      const sentence = 'The file is empty: Upload-Length must be at least 1.';
      expect(await seen(answer)).toEqual([400, sentence]);
    }
    await sendFile(url, 1);
  });
});

describe('the end of a direct upload', () => {
  /** Uploads that live on although no direct upload has them. */
  async function expectNoStrays(): Promise<void> {
    const { rows } = await sql`SELECT id FROM uploads
      WHERE expires_at > now() AND id NOT IN (SELECT upload_id FROM draft_uploads)`.execute(database);
    expect(rows).toEqual([]);
  }

  async function expire(id: string, secondsAgo: number): Promise<void> {
    const closes_at = new Date(Date.now() - secondsAgo * 1000);
    const expires_at = new Date(closes_at.getTime() + 7 * 86_400_000);
    await database.updateTable('drafts').set({ closes_at, expires_at }).where('id', '=', id).execute();
    const ids = await uploadIds(id);
    await database.updateTable('uploads').set({ expires_at: closes_at }).where('id', 'in', ids).execute();
  }

  /** Sends so many bytes, and as many once more when `go` is called. */
  function sendHalf(url: string, size: number): { answered: Promise<Response>; go: () => void } {
    const { promise, resolve: go } = Promise.withResolvers<void>();
    const body = new ReadableStream({
      start: (controller) => controller.enqueue(bytes(size)),
      pull: async (controller) => {
        await promise;
        controller.enqueue(bytes(size));
        controller.close();
      },
    });
    const headers = { ...STREAM, 'Upload-Length': String(2 * size) };
    return { answered: tusRequest('PATCH', url, headers, body), go };
  }

  const untilBegun = (id: string) => eventually(async () => expect((await uploadOf(id)).id).toBeDefined());

  test('makes an address 410 once it has expired, and removes what has come', async () => {
    const { id, url } = await handOut(BOTH);
    await sendFile(url, 9);
    const direct = database.selectFrom('drafts').select('closes_at').where('id', '=', id);
    expect((await uploadOf(id)).expires_at).toEqual((await direct.executeTakeFirstOrThrow()).closes_at);
    await expire(id, 1);
    await expectStatus(url, 410);
    expect(await stateOf(id)).toMatchObject({ state: 'expired', files: [{ offset: 0 }, { offset: 0 }] });
    expect(await expireDrafts(database)).toBe(0);
    await expire(id, 8 * 86_400);
    expect(await expireDrafts(database)).toBe(1);
    expect((await stateOf(id)).status).toBe(404);
  });

  test('is not put off by more bytes', async () => {
    const { id, url } = await handOut({ expires: '60' });
    await sendPart(url, 3);
    const { expires } = await stateOf(id);
    const row = await uploadOf(id);
    expect(Math.abs(row.expires_at.getTime() - Date.parse(expires))).toBeLessThan(1000);
  });

  test('by taking it back, once, makes its addresses lead nowhere', async () => {
    const { id, url } = await handOut(BOTH);
    await sendFile(url, 9);
    const statuses = await Promise.all([takeBackAs(id), takeBackAs(id), takeBackAs(id)]);
    expect(statuses.sort()).toEqual([204, 404, 404]);
    await expectStatus(url, 404);
    expect((await stateOf(id)).status).toBe(404);
  });

  test('is none when a file is given up: another upload may come to the address', async () => {
    const { id, url } = await handOut();
    await sendPart(url, 3);
    const before = await uploadOf(id);
    expect((await tusRequest('DELETE', url)).status).toBe(204);
    expect(await offsetOf(url)).toBe('0');
    await sendPart(url, 5, 7);
    expect((await uploadOf(id)).id).not.toBe(before.id);
    expect(await offsetOf(url)).toBe('5');
  });

  test('by an event keeps a file from being given up', async () => {
    const { id, url } = await handOut();
    await sendPart(url, 10);
    let removing: Promise<Response> | undefined;
    await database.transaction().execute(async (trx) => {
      await sql`SELECT FROM drafts WHERE id = ${id} FOR UPDATE`.execute(trx);
      removing = tusRequest('DELETE', url);
      await untilOneWaits(database);
      await sql`UPDATE drafts SET event_id = 'made-of-it' WHERE id = ${id}`.execute(trx);
    });
    const answer = await removing;
    const sentence = "The direct upload has already become the event 'made-of-it'.";
    expect(await seen(answer)).toEqual([409, sentence]);
  });

  test('while a file is given up and begun again leaves nothing of it', async () => {
    const { id, url } = await handOut();
    await sendPart(url, 10);
    const { id: given } = await uploadOf(id);
    let taking: Promise<unknown> | undefined;
    await database.transaction().execute(async (trx) => {
      await startOver(trx, id, given);
      taking = database.transaction().execute((other) => discardDraft(other, directDraft(id)));
      await untilOneWaits(database);
      await sql`INSERT INTO uploads (id, owner, filename, object_key, handle, expires_at)
        SELECT upload_id, 'admin', 'anew', 'track/anew', '', now() + interval '1 hour'
        FROM draft_uploads WHERE draft_id = ${id}`.execute(trx);
    });
    await taking;
    await expectNoStrays();
  });

  test('before the last byte comes is 410 for the request that sends it', async () => {
    const { id, url } = await handOut();
    const { answered, go } = sendHalf(url, 45);
    await untilBegun(id);
    const past = new Date(Date.now() - 1000);
    await database.updateTable('drafts').set({ closes_at: past }).where('id', '=', id).execute();
    go();
    expect(await seen(await answered)).toEqual([410, 'This upload URL has expired.']);
  });

  test('of an upload leaves the address good for requests that are under way', async () => {
    for (let i = 0; i < 3; i += 1) {
      const { url } = await handOut();
      const answers = await Promise.all([
        tusRequest('DELETE', url),
        ...[1, 2, 3, 4].map(() => tusRequest('PATCH', url, STREAM, bytes(10))),
      ]);
      for (const { status } of answers) expect([204, 409, 423]).toContain(status);
    }
    await expectNoStrays();
  });

  test('in the middle of a request leaves nothing of it', async () => {
    const { id, url } = await handOut();
    const { answered, go } = sendHalf(url, 50);
    await untilBegun(id);
    const { id: uploadId } = await uploadOf(id);
    expect(await takeBackAs(id)).toBe(204);
    go();
    expect([404, 410, 423]).toContain((await answered).status);
    expect((await tusRequest('HEAD', url)).status).toBe(404);
    const left = database.selectFrom('uploads').select('id').where('id', '=', uploadId);
    expect(await left.execute()).toEqual([]);
  });

  test('leaves nothing of any direct upload, taken back or expired', async () => {
    const { id, urls } = await handOut(BOTH);
    await sendFile(urls[0] ?? '', 100);
    await sendPart(urls[1] ?? '', 100);
    const all = await database.selectFrom('drafts').select(['id', 'event_id']).execute();
    for (const [i, each] of all.entries()) {
      if (each.id !== id && i % 2 === 0) expect(await takeBackAs(each.id)).toBe(each.event_id ? 409 : 204);
      else await expire(each.id, 1);
    }
    const entries = database.updateTable('staging').set({ expires_at: new Date(0) });
    await entries.where('owner', 'like', 'upload %').execute();
    expect(await expireUploads(database)).toBeGreaterThan(1);
    await context.staging.sweep(context.watch.seen);
    await expectNothingLeftOver(app);
    expect(await stateOf(id)).toMatchObject({ state: 'expired' });
  });
});

test('no address gets into the log', () => {
  const lines = log.filter((line) => line.includes('direct-uploads'));
  expect(lines.length).toBeGreaterThan(20);
  for (const line of lines) expect(JSON.parse(line).path ?? '').toBe('/direct-uploads/[redacted]');
  expect(log.filter((line) => /direct-uploads\/(?!\[redacted\])/.test(line))).toEqual([]);
});
