import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { createApp } from '#app/app.ts';
import { discardUpload } from '#ingest/tus/tus-uploads.ts';
import { inTransaction } from '#platform/database/retry.ts';
import { serve } from '#platform/http/server/serve.ts';
import { ADMIN, ownApp } from '../support/app.ts';
import { counts } from '../support/app-uploads.ts';
import { bytes } from '../support/bytes.ts';
import { expectNothingLeftOver } from '../support/leftovers.ts';
import { OpenUpload } from '../support/open-upload.ts';
import { exchange, parseAnswer } from '../support/raw-http.ts';
import { append, begin, encoded, stateOf, tus, uploadOf } from '../support/tus.ts';

const MAX = 1_000_000;
const STREAM = 'application/offset+octet-stream';
const DATA = bytes(1000);
const SITE = 'https://lms.example.org';
const NOWHERE = 'x'.repeat(32);
const DEFERRED = { 'Upload-Defer-Length': '1' };
const SENTENCE = {
  text: expect.stringMatching(/^[A-Z].{15,200}\.$/),
  type: 'text/plain; charset=utf-8',
  version: '1.0.0',
};

const app = await ownApp(undefined, { MAX_UPLOAD_BYTES: String(MAX), CORS_ORIGINS: SITE });
const server = await serve(createApp(app.context).fetch, { host: '127.0.0.1', port: 0 });
afterAll(() => server.destroy());
const client = { url: `http://127.0.0.1:${server.port}`, authorization: ADMIN };
afterEach(async () => {
  const { database, context } = app;
  for (const { id } of await database.selectFrom('uploads').select('id').execute())
    await inTransaction(database, (trx) => discardUpload(trx, id));
  await context.staging.sweep(undefined);
  await expectNothingLeftOver(app);
});

const seen = async (answer: Response) => ({
  status: answer.status,
  text: await answer.text(),
  type: answer.headers.get('Content-Type'),
  version: answer.headers.get('Tus-Resumable'),
});
const expectOffset = async (id: string, offset: number, length = 1000) =>
  expect(await stateOf(app, id)).toEqual({ status: 200, offset, length });
/** The head of a request over a connection of its own, and what is sent after it. */
const raw = async (method: string, path: string, headers: Record<string, string>, body = '') => {
  const all = { Host: 'x', Authorization: ADMIN, 'Tus-Resumable': '1.0.0', ...headers };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}`);
  const head = `${method} ${path} HTTP/1.1\r\n${lines.join('\r\n')}\r\nConnection: close\r\n\r\n`;
  return parseAnswer((await exchange(client.url, head + body)).answer);
};

test('an upload begins, grows and tells how far it is', async () => {
  const sent = `${encoded({ filename: 'Vorlesung ü.mp4', flavor: 'presenter/source' })},is_confidential`;
  const begun = await tus(app, 'POST', '/uploads', { 'Upload-Length': '1000', 'Upload-Metadata': sent });
  expect(await seen(begun)).toMatchObject({ status: 201, text: '', version: '1.0.0' });
  const location = begun.headers.get('Location') ?? '';
  expect(location).toMatch(/^http:\/\/inlet\.test\/uploads\/[\w-]{32}$/);
  expect(begun.headers.get('Upload-Expires')).toMatch(/ GMT$/);
  const path = new URL(location).pathname;
  for (const [offset, end] of [
    [0, 400],
    [400, 1000],
  ] as const) {
    const answer = await append(app, path.split('/').at(-1) ?? '', offset, DATA.subarray(offset, end));
    expect([answer.status, answer.headers.get('Upload-Offset')]).toEqual([204, String(end)]);
    expect(answer.headers.get('Upload-Expires')).toMatch(/ GMT$/);
    const state = await tus(app, 'HEAD', path);
    expect(state.status).toBe(200);
    expect(Object.fromEntries(state.headers)).toMatchObject({
      'upload-offset': String(end),
      'upload-length': '1000',
      'upload-metadata': sent,
      'cache-control': 'no-store',
      'tus-resumable': '1.0.0',
      'upload-expires': expect.stringMatching(/ GMT$/),
    });
  }
});

test('an upload begins with its first bytes', async () => {
  const headers = { 'Upload-Length': '1000', 'Content-Type': STREAM };
  const answer = await tus(app, 'POST', '/uploads', headers, DATA.subarray(0, 600));
  expect([answer.status, answer.headers.get('Upload-Offset')]).toEqual([201, '600']);
});

test('a length may be declared later, and declared again', async () => {
  const id = await begin(app, undefined, { headers: DEFERRED });
  const state = await tus(app, 'HEAD', `/uploads/${id}`);
  expect(state.headers.get('Upload-Defer-Length')).toBe('1');
  expect(state.headers.get('Upload-Length')).toBeNull();
  const send = (from: number, to: number, length?: number) =>
    append(app, id, from, DATA.subarray(from, to), length ? { 'Upload-Length': String(length) } : {});
  expect((await send(0, 500)).status).toBe(204);
  expect(await seen(await send(500, 1000, 499))).toMatchObject({ status: 400, ...SENTENCE });
  expect((await send(500, 600, 1000)).status).toBe(204);
  expect(await seen(await send(600, 1000, 999))).toMatchObject({ status: 400, ...SENTENCE });
  expect((await send(600, 1000, 1000)).status).toBe(204);
  await expectOffset(id, 1000);
});

describe('a new upload', () => {
  const length = { 'Upload-Length': '1000' };
  const withBytes = { ...length, 'Content-Type': STREAM };
  const flavor = (value: string) => ({ ...length, 'Upload-Metadata': encoded({ flavor: value }) });
  // The unit tests of the headers have all forms of them.
  test.each<[number, string, Record<string, string>]>([
    [400, 'no length', {}],
    [413, 'a byte more than there may be', { 'Upload-Length': String(MAX + 1) }],
    [400, 'metadata that is not Base64', { ...length, 'Upload-Metadata': 'filename a.mp4' }],
    [400, 'a flavor without a slash', flavor('presenter')],
    [400, 'a flavor with a NUL', flavor('presenter/a\0')],
    [400, 'an unknown checksum', { ...withBytes, 'Upload-Checksum': 'crc32 AAAA' }],
    [460, 'a checksum of other bytes', { ...withBytes, 'Upload-Checksum': 'sha1 AAAA' }],
    [413, 'more bytes than it is to have', { ...withBytes, 'Upload-Length': '999' }],
    [415, 'bytes of another type', { ...length, 'Content-Type': 'video/mp4' }],
    [412, 'another version of the protocol', { ...length, 'Tus-Resumable': '0.2.2' }],
  ])('is refused with %i for %s, and nothing of it stays', async (status, _, headers) => {
    const before = await counts(app);
    const answer = await tus(app, 'POST', '/uploads', headers, 'Content-Type' in headers ? DATA : undefined);
    expect(await seen(answer)).toMatchObject({ status, ...SENTENCE });
    if (status === 412) expect(answer.headers.get('Tus-Version')).toBe('1.0.0');
    expect(await app.database.selectFrom('uploads').select('id').execute()).toEqual([]);
    await app.context.staging.sweep(undefined);
    expect(await counts(app)).toEqual(before);
  });

  test.each([
    ['../../etc/passwd', 'passwd'],
    ['a\0b\r\nc.mp4', 'abc.mp4'],
    ['\u202egpj.mp4', 'gpj.mp4'],
    ['', 'upload'],
    ['..', 'upload'],
  ])('is not refused for the name of its file: %j', async (filename, kept) => {
    await begin(app, 5, { metadata: { filename } });
    const row = await app.database.selectFrom('uploads').select('filename').executeTakeFirstOrThrow();
    expect(row.filename).toBe(kept);
  });

  test('keeps metadata as they were sent', async () => {
    const metadata = 'filename //79, flavor YS9i';
    const answer = await tus(app, 'POST', '/uploads', { ...length, 'Upload-Metadata': metadata });
    expect(answer.status).toBe(201);
    const path = new URL(answer.headers.get('Location') ?? '').pathname;
    expect((await tus(app, 'HEAD', path)).headers.get('Upload-Metadata')).toBe(metadata);
  });
});

describe('more of an upload is refused', () => {
  test.each<[number, string, Record<string, string>]>([
    [400, 'no offset', { 'Upload-Offset': '' }],
    [409, 'an offset before the end', { 'Upload-Offset': '99' }],
    [409, 'an offset beyond it', { 'Upload-Offset': '101' }],
    [409, 'an offset of 400 digits', { 'Upload-Offset': '9'.repeat(400) }],
    [415, 'another type', { 'Content-Type': 'video/mp4' }],
    [412, 'another version of the protocol', { 'Tus-Resumable': '2.0.0' }],
    [400, 'another length', { 'Upload-Length': '1001' }],
    [400, 'a checksum without Base64', { 'Upload-Checksum': 'sha1' }],
    [460, 'a checksum of other bytes', { 'Upload-Checksum': 'sha256 AAAA' }],
    [400, 'a part of an upload', { 'Upload-Concat': 'partial' }],
  ])('with %i for %s, and the upload goes on', async (status, _, headers) => {
    const id = await uploadOf(app, DATA, { until: 100 });
    const rest = DATA.subarray(100);
    expect(await seen(await append(app, id, 100, rest, headers))).toMatchObject({ status, ...SENTENCE });
    await expectOffset(id, 100);
    const checksum = createHash('sha1').update(rest).digest('base64');
    expect((await append(app, id, 100, rest, { 'Upload-Checksum': `sha1 ${checksum}` })).status).toBe(204);
  });

  test('with 413 when it is more than was declared, and what came before that counts', async () => {
    const id = await begin(app, 1000);
    const body = Readable.toWeb(Readable.from([DATA.subarray(0, 700), DATA])) as ReadableStream;
    expect(await seen(await append(app, id, 0, body))).toMatchObject({ status: 413, ...SENTENCE });
    await expectOffset(id, 700);
    expect((await append(app, id, 700, DATA.subarray(700))).status).toBe(204);
  });

  test('with 413 when it grows beyond what an upload may have', async () => {
    const id = await begin(app, undefined, { headers: DEFERRED });
    expect((await append(app, id, 0, bytes(MAX - 1))).status).toBe(204);
    expect((await append(app, id, MAX - 1, bytes(2))).status).toBe(413);
    expect(await stateOf(app, id)).toMatchObject({ offset: MAX - 1, length: undefined });
  });
});

describe('over a connection', () => {
  test('a body that is declared too long is refused before it is read, and its sender reads that', async () => {
    const id = await begin(app, 1000);
    const options = { method: 'PATCH', path: `/uploads/${id}`, type: STREAM, length: 20_000_000 };
    const headers = { 'Tus-Resumable': '1.0.0', 'Upload-Offset': '0' };
    const waiting = new OpenUpload(client, { ...options, headers, expect: '100-continue' });
    const refused = { status: 413, headers: expect.objectContaining({ connection: 'close' }) };
    expect(await waiting.answer).toMatchObject(refused);
    expect(waiting.asked).toBe(false);
    const hasty = new OpenUpload(client, { ...options, headers });
    void hasty.write(bytes(20_000_000));
    expect(await hasty.answer).toMatchObject(refused);
    await expectOffset(id, 0);
  });

  test('chunks bring what they hold', async () => {
    const id = await begin(app, 10);
    const send = (offset: number, body: string) => {
      const headers = { 'Transfer-Encoding': 'chunked', 'Upload-Offset': String(offset) };
      return raw('PATCH', `/uploads/${id}`, { ...headers, 'Content-Type': STREAM }, body);
    };
    const answer = await send(0, '3\r\nabc\r\n7\r\ndefghij\r\n0\r\n\r\n');
    expect([answer.status, answer.headers['upload-offset']]).toEqual([204, '10']);
    expect((await send(10, '1\r\na\r\n0\r\n\r\n')).status).toBe(413);
  });

  test('an answer without a body says that it has none', async () => {
    const created = await raw('POST', '/uploads', { 'Upload-Length': '10' });
    expect([created.status, created.headers['content-length']]).toEqual([201, '0']);
    const state = await raw('GET', new URL(created.headers.location ?? '').pathname, {});
    expect([state.status, state.headers['content-length']]).toEqual([200, '0']);
  });

  test.each([
    ['a length twice', { 'Upload-Length': '5\r\nUpload-Length: 6' }],
    ['a name in bytes of Latin-1', { 'Upload-Length': '5', 'Upload-Metadata': 'filen\xe4me YQ==' }],
    ['a negative Content-Length', { 'Upload-Length': '5', 'Content-Length': '-1' }],
    ['a length of tabs', { 'Upload-Length': '\t\t' }],
  ])('%s is refused', async (_, headers) => {
    expect((await raw('POST', '/uploads', headers)).status).toBe(400);
  });

  test.each(['%00', '%ff', '..%2f..', '%zz', 'a%0d%0ab', 'x'.repeat(5000), "';DROP%20TABLE%20x"])(
    'no upload is called %s',
    async (id) => {
      const override = { 'X-HTTP-Method-Override': 'PATCH', 'Upload-Offset': '0' };
      const headers = { ...override, 'Content-Type': STREAM, 'Content-Length': '0' };
      for (const method of ['HEAD', 'PATCH', 'DELETE', 'POST'])
        expect([400, 404]).toContain((await raw(method, `/uploads/${id}`, headers)).status);
    },
  );

  test('a query, a slash at the end and headers of proxies change nothing', async () => {
    const id = await begin(app, 5);
    for (const end of ['?x=/y', '/']) expect((await raw('HEAD', `/uploads/${id}${end}`, {})).status).toBe(200);
    const forwarded = { 'X-Forwarded-Proto': 'https, http', 'X-Forwarded-Host': 'evil.example' };
    const answer = await raw('POST', '/uploads', { ...forwarded, Forwarded: 'x', 'Upload-Length': '5' });
    expect(answer.status).toBe(201);
    expect(answer.headers.location).toMatch(/^http:\/\/inlet\.test\/uploads\//);
  });
});

describe('an upload that does not exist, or belongs to another account,', () => {
  test('is 404 whatever is done with it', async () => {
    const own = await uploadOf(app, DATA, { until: 100 });
    const Authorization = await app.account('other', 'ROLE_API_EVENTS_CREATE');
    for (const [id, headers] of [
      [own, { Authorization }],
      [NOWHERE, { Authorization }],
      [NOWHERE, {}],
    ] as const) {
      const override = { ...headers, 'X-HTTP-Method-Override': 'DELETE' };
      for (const answer of [
        await tus(app, 'GET', `/uploads/${id}`, headers),
        await append(app, id, 100, DATA.subarray(100), headers),
        await tus(app, 'DELETE', `/uploads/${id}`, headers),
        await tus(app, 'POST', `/uploads/${id}`, override),
      ])
        expect(await seen(answer)).toMatchObject({ status: 404, ...SENTENCE });
      expect((await tus(app, 'HEAD', `/uploads/${id}`, headers)).status).toBe(404);
    }
    await expectOffset(own, 100);
  });

  test('does not make its owner let go of it', async () => {
    const id = await begin(app, 1000);
    const Authorization = await app.account('intruder', 'ROLE_API_EVENTS_CREATE');
    const [writing, may] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const chunks = async function* () {
      yield DATA.subarray(0, 500);
      writing.resolve();
      await may.promise;
      yield DATA.subarray(500);
    };
    const sending = append(app, id, 0, Readable.toWeb(Readable.from(chunks())) as ReadableStream);
    await writing.promise;
    for (let i = 0; i < 3; i += 1)
      expect((await tus(app, 'DELETE', `/uploads/${id}`, { Authorization })).status).toBe(404);
    may.resolve();
    expect((await sending).headers.get('Upload-Offset')).toBe('1000');
  });
});

describe('X-HTTP-Method-Override', () => {
  const DELETE = { 'X-HTTP-Method-Override': 'DELETE' };

  test('makes a POST to an upload a PATCH or a DELETE', async () => {
    const id = await begin(app, 1000);
    const headers = { 'X-HTTP-Method-Override': 'PATCH', 'Content-Type': STREAM, 'Upload-Offset': '0' };
    const sent = await tus(app, 'POST', `/uploads/${id}`, headers, DATA);
    expect([sent.status, sent.headers.get('Upload-Offset')]).toEqual([204, '1000']);
    expect((await tus(app, 'POST', `/uploads/${id}`, DELETE)).status).toBe(204);
    expect((await stateOf(app, id)).status).toBe(404);
  });

  test('means nothing else', async () => {
    const id = await begin(app, 1000);
    for (const method of ['', 'GET', 'PUT', 'POST', 'PATCH, DELETE', 'CONNECT']) {
      const headers = { 'X-HTTP-Method-Override': method, 'Content-Type': STREAM, 'Upload-Offset': '0' };
      const answer = await tus(app, 'POST', `/uploads/${id}`, headers, DATA);
      expect(await seen(answer), method).toMatchObject({ status: 405, ...SENTENCE });
      expect(answer.headers.get('Allow')).toBe('GET, HEAD, PATCH, DELETE');
    }
    await expectOffset(id, 0);
  });

  test('does nothing elsewhere', async () => {
    const id = await begin(app, 1000);
    for (const method of ['HEAD', 'GET']) expect((await tus(app, method, `/uploads/${id}`, DELETE)).status).toBe(200);
    expect((await tus(app, 'POST', '/uploads', { ...DELETE, 'Upload-Length': '5' })).status).toBe(201);
    expect((await app.request('/api/events', { headers: DELETE })).status).toBe(200);
    await expectOffset(id, 0);
  });

  test('asks for the account, the role and the site that the method would need', async () => {
    const id = await begin(app, 1000);
    const nobody = await app.anonymous(`/uploads/${id}`, { method: 'POST', headers: DELETE });
    expect(nobody.status).toBe(401);
    for (const [name, value] of [
      ['Authorization', await app.account('viewer', 'ROLE_API_EVENTS_VIEW')],
      ['Origin', 'https://evil.example'],
      ['Sec-Fetch-Site', 'cross-site'],
    ] as const)
      expect((await tus(app, 'POST', `/uploads/${id}`, { ...DELETE, [name]: value })).status).toBe(403);
    await expectOffset(id, 0);
  });
});

test('an account with the role may upload, and everybody may ask what there is', async () => {
  const reader = await app.account('reader', 'ROLE_API', 'ROLE_API_EVENTS_EDIT');
  const there = ['HEAD', 'GET', 'PATCH', 'POST', 'DELETE'].map((method) => [method, `/uploads/${NOWHERE}`]);
  for (const [method = '', path = ''] of [['POST', '/uploads'], ...there]) {
    const anonymous = await app.anonymous(path, { method, headers: { 'Tus-Resumable': '1.0.0' } });
    expect([method, anonymous.status]).toEqual([method, 401]);
    expect(anonymous.headers.get('WWW-Authenticate')).toMatch(/^Digest .*, Basic /);
    const refused = await tus(app, method, path, { Authorization: reader });
    expect([method, refused.status]).toEqual([method, 403]);
    for (const { headers } of [anonymous, refused]) expect(headers.get('Tus-Resumable')).toBe('1.0.0');
  }
  const asked = await app.anonymous('/uploads', { method: 'OPTIONS' });
  expect(asked.status).toBe(204);
  expect(Object.fromEntries(asked.headers)).toMatchObject({
    'tus-version': '1.0.0',
    'tus-extension': 'creation,creation-with-upload,creation-defer-length,termination,expiration,checksum',
    'tus-max-size': String(MAX),
    'tus-checksum-algorithm': 'sha1,sha256,sha512,md5',
  });
  const headers = { Authorization: `Basic ${btoa('admin:wrong')}` };
  expect((await app.anonymous('/uploads', { method: 'OPTIONS', headers })).status).toBe(401);
});

describe('pages of a trusted site', () => {
  const HEADERS = [
    ...['authorization', 'content-type', 'idempotency-key', 'tus-resumable', 'upload-checksum'],
    ...['upload-concat', 'upload-defer-length', 'upload-length', 'upload-metadata', 'upload-offset'],
    ...['x-http-method-override', 'x-request-id', 'x-requested-with'],
  ];
  const EXPOSED = [
    ...['Location', 'Tus-Resumable', 'Tus-Version', 'Tus-Extension', 'Tus-Max-Size'],
    ...['Tus-Checksum-Algorithm', 'Upload-Offset', 'Upload-Length', 'Upload-Metadata', 'Upload-Expires'],
    ...['Upload-Defer-Length', 'Retry-After', 'X-Request-Id'],
  ];
  const list = (text: string | null) => (text ?? '').split(/,\s*/);

  test.each(['/uploads', `/uploads/${NOWHERE}`, '/api/events'])('ask first, and may: %s', async (path) => {
    for (const method of ['GET', 'HEAD', 'POST', 'PATCH', 'DELETE', 'OPTIONS']) {
      const headers = {
        Origin: SITE,
        'Access-Control-Request-Method': method,
        'Access-Control-Request-Headers': HEADERS.join(','),
      };
      const answer = await app.anonymous(path, { method: 'OPTIONS', headers });
      expect(answer.status).toBe(204);
      expect(answer.headers.get('Access-Control-Allow-Origin')).toBe(SITE);
      expect(list(answer.headers.get('Access-Control-Allow-Methods'))).toContain(method);
      expect(list(answer.headers.get('Access-Control-Allow-Headers'))).toEqual(HEADERS);
      expect(answer.headers.get('Access-Control-Allow-Credentials')).toBeNull();
    }
  });

  test('read answers and refusals with all their headers', async () => {
    const there = `/uploads/${await uploadOf(app, DATA, { until: 100 })}`;
    const type = { 'Content-Type': STREAM };
    const wrong = { 'Upload-Offset': '100', 'Upload-Checksum': 'sha1 AAAA' };
    const cases: [number, string, string, Record<string, string>, Uint8Array?][] = [
      [201, 'POST', '/uploads', { 'Upload-Length': '5' }],
      [200, 'HEAD', there, {}],
      [401, 'POST', '/uploads', { Authorization: `Basic ${btoa('admin:wrong')}` }],
      [404, 'HEAD', `/uploads/${NOWHERE}`, {}],
      [409, 'PATCH', there, { ...type, 'Upload-Offset': '7' }, DATA],
      [412, 'HEAD', there, { 'Tus-Resumable': '0' }],
      [460, 'PATCH', there, { ...type, ...wrong }, DATA.subarray(100)],
      [204, 'DELETE', there, {}],
    ];
    for (const [status, method, path, headers, body] of cases) {
      const answer = await tus(app, method, path, { Origin: SITE, ...headers }, body);
      const allowed = answer.headers.get('Access-Control-Allow-Origin');
      expect([method, path, answer.status, allowed]).toEqual([method, path, status, SITE]);
      const exposed = list(answer.headers.get('Access-Control-Expose-Headers'));
      expect(exposed).toEqual(expect.arrayContaining(EXPOSED));
      // A page can read every header that says something.
      const said = [...answer.headers.keys()].filter((name) => /^(tus|upload|location|retry)/.test(name));
      expect(exposed.map((name) => name.toLowerCase())).toEqual(expect.arrayContaining(said));
    }
  });
});
