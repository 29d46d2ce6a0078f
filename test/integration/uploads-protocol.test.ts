import { createHash } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { createApp } from '../../src/app.ts';
import { inTransaction } from '../../src/database/retry.ts';
import { type RunningServer, serve } from '../../src/http/server/serve.ts';
import { discardUpload } from '../../src/ingest/uploads/uploads.ts';
import { ADMIN, createTestApp, type TestApp } from '../support/app.ts';
import { counts } from '../support/app-uploads.ts';
import { bytes } from '../support/bytes.ts';
import { Client } from '../support/client.ts';
import { expectNothingLeftOver } from '../support/leftovers.ts';
import { OpenUpload } from '../support/open-upload.ts';
import { exchange, parseAnswer } from '../support/raw-http.ts';
import { append, begin, encoded, stateOf, tus, uploadOf } from '../support/tus.ts';

const MAX = 1_000_000;
const STREAM = 'application/offset+octet-stream';
const DATA = bytes(1000);
const SITE = 'https://lms.example.org';
const NOWHERE = 'x'.repeat(32);

let app: TestApp;
let server: RunningServer;
let client: Client;
beforeAll(async () => {
  app = await createTestApp(undefined, { MAX_UPLOAD_BYTES: String(MAX), CORS_ORIGINS: SITE });
  server = await serve(createApp(app.context).fetch, { host: '127.0.0.1', port: 0 });
  client = new Client(`http://127.0.0.1:${server.port}`);
});
afterAll(async () => {
  server?.destroy();
  await app?.close();
});
afterEach(async () => {
  const { database, context } = app;
  for (const { id } of await database.selectFrom('uploads').select('id').execute()) {
    await inTransaction(database, (trx) => discardUpload(trx, id));
  }
  await context.staging.sweep(undefined);
  await expectNothingLeftOver(app);
});

const seen = async (answer: Response) => ({
  status: answer.status,
  text: await answer.text(),
  type: answer.headers.get('Content-Type'),
  version: answer.headers.get('Tus-Resumable'),
});
const SENTENCE = {
  text: expect.stringMatching(/^[A-Z].{15,200}\.$/),
  type: 'text/plain; charset=utf-8',
  version: '1.0.0',
};
/** The head of a request over a connection of its own, and what is sent after it. */
const raw = async (method: string, path: string, headers: Record<string, string>, body = '') => {
  const all = { Host: 'x', Authorization: ADMIN, 'Tus-Resumable': '1.0.0', ...headers };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}`);
  const { answer } = await exchange(
    client.url,
    `${method} ${path} HTTP/1.1\r\n${lines.join('\r\n')}\r\nConnection: close\r\n\r\n${body}`,
  );
  return parseAnswer(answer);
};
const deferred = { 'Upload-Defer-Length': '1' };

test('an upload begins, grows and tells how far it is', async () => {
  const metadata = { filename: 'Vorlesung ü.mp4', flavor: 'presenter/source' };
  const sent = `${encoded(metadata)},is_confidential`;
  const headers = { 'Upload-Length': '1000', 'Upload-Metadata': sent };
  const begun = await tus(app, 'POST', '/uploads', headers);
  expect(await seen(begun)).toMatchObject({ status: 201, text: '', version: '1.0.0' });
  const location = begun.headers.get('Location') ?? '';
  expect(location).toMatch(/^http:\/\/inlet\.test\/uploads\/[\w-]{32}$/);
  expect(begun.headers.get('Upload-Expires')).toMatch(/ GMT$/);
  const path = new URL(location).pathname;
  const id = path.split('/').at(-1) ?? '';
  for (const [offset, end] of [
    [0, 400],
    [400, 1000],
  ] as const) {
    const answer = await append(app, id, offset, DATA.subarray(offset, end));
    expect(answer.status).toBe(204);
    expect(answer.headers.get('Upload-Offset')).toBe(String(end));
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

test('a length may be said later, and said again', async () => {
  const id = await begin(app, undefined, { headers: deferred });
  const state = await tus(app, 'HEAD', `/uploads/${id}`);
  expect(state.headers.get('Upload-Defer-Length')).toBe('1');
  expect(state.headers.get('Upload-Length')).toBeNull();
  expect((await append(app, id, 0, DATA.subarray(0, 500))).status).toBe(204);
  const less = await append(app, id, 500, DATA.subarray(500), { 'Upload-Length': '499' });
  expect(await seen(less)).toMatchObject({ status: 400, ...SENTENCE });
  const length = { 'Upload-Length': '1000' };
  expect((await append(app, id, 500, DATA.subarray(500, 600), length)).status).toBe(204);
  const other = await append(app, id, 600, DATA.subarray(600), { 'Upload-Length': '999' });
  expect(await seen(other)).toMatchObject({ status: 400, ...SENTENCE });
  expect((await append(app, id, 600, DATA.subarray(600), length)).status).toBe(204);
  expect(await stateOf(app, id)).toEqual({ status: 200, offset: 1000, length: 1000 });
});

describe('a new upload is refused', () => {
  const filename = Buffer.from('a.mp4').toString('base64');
  test.each<[number, string, Record<string, string>]>([
    [400, 'no length', {}],
    [400, 'a length and none', { 'Upload-Length': '5', ...deferred }],
    [400, 'Upload-Defer-Length 2', { 'Upload-Defer-Length': '2' }],
    [400, 'Upload-Defer-Length empty', { 'Upload-Defer-Length': '' }],
    [400, 'a negative length', { 'Upload-Length': '-1' }],
    [400, 'a length with an exponent', { 'Upload-Length': '1e3' }],
    [400, 'a fraction', { 'Upload-Length': '1.5' }],
    [400, 'a hexadecimal length', { 'Upload-Length': '0x10' }],
    [400, 'an empty length', { 'Upload-Length': '' }],
    [400, 'two lengths', { 'Upload-Length': '5, 5' }],
    [400, 'a word', { 'Upload-Length': 'NaN' }],
    [413, 'a length of 2^63', { 'Upload-Length': '9223372036854775808' }],
    [413, 'a length of 400 digits', { 'Upload-Length': '9'.repeat(400) }],
    [413, 'a byte more than there may be', { 'Upload-Length': String(MAX + 1) }],
    [400, 'metadata that is not Base64', { 'Upload-Length': '5', 'Upload-Metadata': 'filename a.mp4' }],
    [400, 'metadata twice', { 'Upload-Length': '5', 'Upload-Metadata': `a ${filename},a ${filename}` }],
    [400, 'metadata without a name', { 'Upload-Length': '5', 'Upload-Metadata': ` ${filename},` }],
    [
      400,
      'metadata with a name of every object',
      { 'Upload-Length': '5', 'Upload-Metadata': '__proto__ YQ==' },
    ],
    [400, 'metadata of commas', { 'Upload-Length': '5', 'Upload-Metadata': ',,,' }],
    [
      400,
      'metadata that is long',
      { 'Upload-Length': '5', 'Upload-Metadata': `filename ${'A'.repeat(9000)}` },
    ],
    [
      400,
      'a flavor without a slash',
      { 'Upload-Length': '5', 'Upload-Metadata': encoded({ flavor: 'presenter' }) },
    ],
    [
      400,
      'a flavor with a NUL',
      { 'Upload-Length': '5', 'Upload-Metadata': encoded({ flavor: 'presenter/a\0' }) },
    ],
    [400, 'a part of an upload', { 'Upload-Length': '5', 'Upload-Concat': 'partial' }],
    [400, 'several made one', { 'Upload-Concat': 'final;/uploads/a /uploads/b' }],
    [
      400,
      'an unknown checksum',
      { 'Upload-Length': '1000', 'Content-Type': STREAM, 'Upload-Checksum': 'crc32 AAAA' },
    ],
    [
      400,
      'a checksum that is not Base64',
      { 'Upload-Length': '1000', 'Content-Type': STREAM, 'Upload-Checksum': 'sha1 %%%' },
    ],
    [
      460,
      'a checksum of other bytes',
      { 'Upload-Length': '1000', 'Content-Type': STREAM, 'Upload-Checksum': 'sha1 AAAA' },
    ],
    [413, 'more bytes than it is to have', { 'Upload-Length': '999', 'Content-Type': STREAM }],
    [415, 'bytes of another type', { 'Upload-Length': '1000', 'Content-Type': 'video/mp4' }],
    [412, 'another version of the protocol', { 'Upload-Length': '5', 'Tus-Resumable': '0.2.2' }],
    [412, 'no version of the protocol', { 'Upload-Length': '5', 'Tus-Resumable': '' }],
  ])('with %i for %s, and nothing of it stays', async (status, _, headers) => {
    const before = await counts(app);
    const body = 'Content-Type' in headers ? DATA : undefined;
    const answer = await tus(app, 'POST', '/uploads', headers, body);
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
    ['<script>alert(1)</script>.mp4', 'script>.mp4'],
    ['', 'upload'],
    ['..', 'upload'],
    ['x'.repeat(1000), 'x'.repeat(255)],
  ])('never for the name of its file: %j', async (filename, kept) => {
    await begin(app, 5, { metadata: { filename } });
    const row = await app.database.selectFrom('uploads').select('filename').executeTakeFirstOrThrow();
    expect(row.filename).toBe(kept);
  });

  test.each([
    ['blanks after commas', 'filename YS5tcDQ=, flavor YS9i'],
    ['nothing at all', ''],
    ['bytes that are no UTF-8', 'filename //79'],
  ])('never for metadata with %s', async (_, text) => {
    const answer = await tus(app, 'POST', '/uploads', { 'Upload-Length': '5', 'Upload-Metadata': text });
    expect(answer.status).toBe(201);
    const path = new URL(answer.headers.get('Location') ?? '').pathname;
    expect((await tus(app, 'HEAD', path)).headers.get('Upload-Metadata') ?? '').toBe(text);
  });
});

describe('more of an upload is refused', () => {
  test.each<[number, string, Record<string, string>]>([
    [400, 'a negative offset', { 'Upload-Offset': '-1' }],
    [400, 'an offset that is no number', { 'Upload-Offset': 'NaN' }],
    [400, 'an empty offset', { 'Upload-Offset': '' }],
    [400, 'two offsets', { 'Upload-Offset': '100, 100' }],
    [409, 'an offset before the end', { 'Upload-Offset': '99' }],
    [409, 'an offset beyond it', { 'Upload-Offset': '101' }],
    [409, 'an offset of 2^63', { 'Upload-Offset': '9223372036854775808' }],
    [409, 'an offset of 400 digits', { 'Upload-Offset': '9'.repeat(400) }],
    [415, 'another type', { 'Content-Type': 'video/mp4' }],
    [415, 'no type', { 'Content-Type': '' }],
    [415, 'a type with a parameter', { 'Content-Type': `${STREAM}; charset=utf-8` }],
    [412, 'another version of the protocol', { 'Tus-Resumable': '2.0.0' }],
    [400, 'another length', { 'Upload-Length': '1001' }],
    [400, 'a length that is none', { 'Upload-Length': 'many' }],
    [413, 'a length beyond all', { 'Upload-Length': '9'.repeat(30) }],
    [400, 'an unknown checksum', { 'Upload-Checksum': 'md4 AAAA' }],
    [400, 'an empty checksum', { 'Upload-Checksum': '' }],
    [400, 'a checksum without Base64', { 'Upload-Checksum': 'sha1' }],
    [400, 'a checksum with trifles', { 'Upload-Checksum': 'sha1 A===' }],
    [400, 'a checksum named as what objects have', { 'Upload-Checksum': 'constructor AAAA' }],
    [460, 'a checksum of other bytes', { 'Upload-Checksum': 'sha256 AAAA' }],
    [400, 'a part of an upload', { 'Upload-Concat': 'partial' }],
  ])('with %i for %s, and the upload goes on', async (status, _, headers) => {
    const id = await uploadOf(app, DATA, { until: 100 });
    const answer = await append(app, id, 100, DATA.subarray(100), headers);
    expect(await seen(answer)).toMatchObject({ status, ...SENTENCE });
    expect(await stateOf(app, id)).toEqual({ status: 200, offset: 100, length: 1000 });
    const checksum = createHash('sha1').update(DATA.subarray(100)).digest('base64');
    const right = await append(app, id, 100, DATA.subarray(100), { 'Upload-Checksum': `sha1 ${checksum}` });
    expect(right.status).toBe(204);
  });

  test('with 400 when nothing says where it belongs', async () => {
    const id = await begin(app, 5);
    const answer = await tus(app, 'PATCH', `/uploads/${id}`, { 'Content-Type': STREAM }, DATA);
    expect(await seen(answer)).toMatchObject({ status: 400, ...SENTENCE });
  });

  test('with 413 when it is more than was declared, and what came before that counts', async () => {
    const id = await begin(app, 1000);
    const chunks = [DATA.subarray(0, 700), DATA];
    const body = new ReadableStream({
      pull: (controller) => {
        const chunk = chunks.shift();
        if (chunk) controller.enqueue(chunk);
        else controller.close();
      },
    });
    expect(await seen(await append(app, id, 0, body))).toMatchObject({ status: 413, ...SENTENCE });
    expect(await stateOf(app, id)).toEqual({ status: 200, offset: 700, length: 1000 });
    expect((await append(app, id, 700, DATA.subarray(700))).status).toBe(204);
  });

  test('with 413 when it grows beyond what an upload may have', async () => {
    const id = await begin(app, undefined, { headers: deferred });
    expect((await append(app, id, 0, bytes(MAX - 1))).status).toBe(204);
    expect((await append(app, id, MAX - 1, bytes(2))).status).toBe(413);
    expect(await stateOf(app, id)).toMatchObject({ offset: MAX - 1, length: undefined });
  });
});

describe('over a connection', () => {
  test('a body that is declared too long is refused before it is read, and who sends it reads that', async () => {
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
    expect(await stateOf(app, id)).toMatchObject({ offset: 0 });
  });

  test('chunks bring what they hold', async () => {
    const id = await begin(app, 10);
    const headers = { 'Transfer-Encoding': 'chunked', 'Content-Type': STREAM, 'Upload-Offset': '0' };
    const answer = await raw('PATCH', `/uploads/${id}`, headers, '3\r\nabc\r\n7\r\ndefghij\r\n0\r\n\r\n');
    expect([answer.status, answer.headers['upload-offset']]).toEqual([204, '10']);
    const more = await raw(
      'PATCH',
      `/uploads/${id}`,
      { ...headers, 'Upload-Offset': '10' },
      '1\r\na\r\n0\r\n\r\n',
    );
    expect(more.status).toBe(413);
  });

  test.each([
    ['a length twice', { 'Upload-Length': '5\r\nUpload-Length: 6' }],
    ['a name in bytes of Latin-1', { 'Upload-Length': '5', 'Upload-Metadata': 'filen\xe4me YQ==' }],
    ['a negative Content-Length', { 'Upload-Length': '5', 'Content-Length': '-1' }],
    ['a length of tabs', { 'Upload-Length': '\t\t' }],
  ])('%s is refused', async (_, headers) => {
    expect((await raw('POST', '/uploads', headers)).status).toBe(400);
  });

  test.each([
    '%00',
    '%ff',
    '..%2f..',
    '%zz',
    'a%0d%0ab',
    'x'.repeat(5000),
    `${NOWHERE}?a=b`,
    "';DROP TABLE x",
  ])('there is no upload %s', async (id) => {
    for (const method of ['HEAD', 'PATCH', 'DELETE', 'POST']) {
      const headers: Record<string, string> = {
        'X-HTTP-Method-Override': 'PATCH',
        'Upload-Offset': '0',
        'Content-Type': STREAM,
        'Content-Length': '0',
      };
      const { status } = await raw(method, `/uploads/${id.replaceAll(' ', '%20')}`, headers);
      expect([400, 404]).toContain(status);
    }
  });

  test('what stands after a question mark changes nothing', async () => {
    const id = await begin(app, 5);
    expect((await raw('HEAD', `/uploads/${id}?x=/y`, {})).status).toBe(200);
    expect((await raw('HEAD', `/uploads/${id}/`, {})).status).toBe(200);
  });

  test('proxies may say what they like', async () => {
    const headers = {
      'X-Forwarded-Proto': 'https, http',
      'X-Forwarded-Host': 'evil.example',
      Forwarded: 'x',
    };
    const answer = await raw('POST', '/uploads', { ...headers, 'Upload-Length': '5' });
    expect(answer.status).toBe(201);
    expect(answer.headers.location).toMatch(/^http:\/\/inlet\.test\/uploads\//);
  });
});

describe('an upload that is not there, or not one’s own', () => {
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
      ]) {
        expect(await seen(answer)).toMatchObject({ status: 404, ...SENTENCE });
      }
      expect((await tus(app, 'HEAD', `/uploads/${id}`, headers)).status).toBe(404);
    }
    expect(await stateOf(app, own)).toMatchObject({ status: 200, offset: 100 });
  });

  test('does not make its owner let go of it', async () => {
    const id = await begin(app, 1000);
    const Authorization = await app.account('intruder', 'ROLE_API_EVENTS_CREATE');
    let go = () => {};
    const may = new Promise<void>((resolve) => {
      go = resolve;
    });
    const writing = Promise.withResolvers<void>();
    const chunks = [DATA.subarray(0, 500), DATA.subarray(500)];
    const body = new ReadableStream(
      {
        pull: async (controller) => {
          if (chunks.length === 1) {
            writing.resolve();
            await may;
          }
          const chunk = chunks.shift();
          if (chunk) controller.enqueue(chunk);
          else controller.close();
        },
      },
      { highWaterMark: 0 },
    );
    const sending = append(app, id, 0, body);
    await writing.promise;
    for (let i = 0; i < 3; i += 1) {
      expect((await tus(app, 'DELETE', `/uploads/${id}`, { Authorization })).status).toBe(404);
    }
    go();
    expect((await sending).headers.get('Upload-Offset')).toBe('1000');
  });
});

describe('X-HTTP-Method-Override', () => {
  test('makes a POST to an upload a PATCH or a DELETE', async () => {
    const id = await begin(app, 1000);
    const headers = { 'X-HTTP-Method-Override': 'PATCH', 'Content-Type': STREAM, 'Upload-Offset': '0' };
    const sent = await tus(app, 'POST', `/uploads/${id}`, headers, DATA);
    expect([sent.status, sent.headers.get('Upload-Offset')]).toEqual([204, '1000']);
    const gone = await tus(app, 'POST', `/uploads/${id}`, { 'X-HTTP-Method-Override': 'DELETE' });
    expect(gone.status).toBe(204);
    expect((await stateOf(app, id)).status).toBe(404);
  });

  test.each(['', 'GET', 'HEAD', 'PUT', 'POST', 'OPTIONS', 'PATCH, DELETE', 'CONNECT'])(
    'means nothing else: %j',
    async (method) => {
      const id = await begin(app, 1000);
      const headers = { 'X-HTTP-Method-Override': method, 'Content-Type': STREAM, 'Upload-Offset': '0' };
      const answer = await tus(app, 'POST', `/uploads/${id}`, headers, DATA);
      expect(await seen(answer)).toMatchObject({ status: 405, ...SENTENCE });
      expect(answer.headers.get('Allow')).toBe('GET, HEAD, PATCH, DELETE');
      expect(await stateOf(app, id)).toMatchObject({ status: 200, offset: 0 });
    },
  );

  test('does nothing elsewhere', async () => {
    const id = await begin(app, 1000);
    const headers = { 'X-HTTP-Method-Override': 'DELETE' };
    expect((await tus(app, 'HEAD', `/uploads/${id}`, headers)).status).toBe(200);
    expect((await tus(app, 'GET', `/uploads/${id}`, headers)).status).toBe(200);
    const begun = await tus(app, 'POST', '/uploads', { ...headers, 'Upload-Length': '5' });
    expect(begun.status).toBe(201);
    const events = await app.request('/api/events', { headers });
    expect(events.status).toBe(200);
    expect((await stateOf(app, id)).status).toBe(200);
  });

  test('asks for the account, the role and the site that the method would need', async () => {
    const id = await begin(app, 1000);
    const headers = { 'X-HTTP-Method-Override': 'DELETE' };
    const viewer = await app.account('viewer', 'ROLE_API_EVENTS_VIEW');
    const nobody = await app.anonymous(`/uploads/${id}`, { method: 'POST', headers });
    expect(nobody.status).toBe(401);
    expect((await tus(app, 'POST', `/uploads/${id}`, { ...headers, Authorization: viewer })).status).toBe(
      403,
    );
    for (const [name, value] of [
      ['Origin', 'https://evil.example'],
      ['Sec-Fetch-Site', 'cross-site'],
    ] as const) {
      expect((await tus(app, 'POST', `/uploads/${id}`, { ...headers, [name]: value })).status).toBe(403);
    }
    expect(await stateOf(app, id)).toMatchObject({ status: 200 });
  });
});

describe('who may upload', () => {
  test.each([
    ['POST', '/uploads'],
    ['HEAD', `/uploads/${NOWHERE}`],
    ['GET', `/uploads/${NOWHERE}`],
    ['PATCH', `/uploads/${NOWHERE}`],
    ['POST', `/uploads/${NOWHERE}`],
    ['DELETE', `/uploads/${NOWHERE}`],
  ])('%s %s needs an account with the role', async (method, path) => {
    const reader = await app.account(`reader ${method} ${path}`, 'ROLE_API', 'ROLE_API_EVENTS_EDIT');
    const anonymous = await app.anonymous(path, { method, headers: { 'Tus-Resumable': '1.0.0' } });
    expect(anonymous.status).toBe(401);
    expect(anonymous.headers.get('Tus-Resumable')).toBe('1.0.0');
    expect(anonymous.headers.get('WWW-Authenticate')).toMatch(/^Digest .*, Basic /);
    const refused = await tus(app, method, path, { Authorization: reader });
    expect(refused.status).toBe(403);
    expect(refused.headers.get('Tus-Resumable')).toBe('1.0.0');
  });

  test('everybody may ask what there is, and wrong credentials are wrong all the same', async () => {
    const answer = await app.anonymous('/uploads', { method: 'OPTIONS' });
    expect(answer.status).toBe(204);
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'tus-version': '1.0.0',
      'tus-extension': 'creation,creation-with-upload,creation-defer-length,termination,expiration,checksum',
      'tus-max-size': String(MAX),
      'tus-checksum-algorithm': 'sha1,sha256,sha512,md5',
    });
    const headers = { Authorization: `Basic ${btoa('admin:wrong')}` };
    expect((await app.anonymous('/uploads', { method: 'OPTIONS', headers })).status).toBe(401);
  });
});

describe('pages of a trusted site', () => {
  const HEADERS = [
    ...[
      'authorization',
      'content-type',
      'idempotency-key',
      'tus-resumable',
      'upload-checksum',
      'upload-concat',
    ],
    ...['upload-defer-length', 'upload-length', 'upload-metadata', 'upload-offset', 'x-http-method-override'],
    ...['x-request-id', 'x-requested-with'],
  ];
  const EXPOSED = [
    ...[
      'Location',
      'Tus-Resumable',
      'Tus-Version',
      'Tus-Extension',
      'Tus-Max-Size',
      'Tus-Checksum-Algorithm',
    ],
    ...['Upload-Offset', 'Upload-Length', 'Upload-Metadata', 'Upload-Expires', 'Upload-Defer-Length'],
    ...['Retry-After', 'X-Request-Id'],
  ];
  const list = (text: string | null) => (text ?? '').split(/,\s*/);

  test.each(['/uploads', `/uploads/${NOWHERE}`, '/api/events'])('ask first, and may: %s', async (path) => {
    for (const method of ['GET', 'HEAD', 'POST', 'PATCH', 'DELETE', 'OPTIONS']) {
      const headers = {
        Origin: SITE,
        'Access-Control-Request-Method': method,
        'Access-Control-Request-Headers': HEADERS.join(','),
      };
      const answer = await fetch(client.url + path, { method: 'OPTIONS', headers });
      expect(answer.status).toBe(204);
      expect(answer.headers.get('Access-Control-Allow-Origin')).toBe(SITE);
      expect(list(answer.headers.get('Access-Control-Allow-Methods'))).toContain(method);
      expect(list(answer.headers.get('Access-Control-Allow-Headers'))).toEqual(HEADERS);
      expect(answer.headers.get('Access-Control-Allow-Credentials')).toBeNull();
    }
  });

  test('read answers and refusals with all that they tell', async () => {
    const id = await uploadOf(app, DATA, { until: 100 });
    const there = `/uploads/${id}`;
    const type = { 'Content-Type': STREAM };
    const wrong = { 'Upload-Offset': '100', 'Upload-Checksum': 'sha1 AAAA' };
    const cases: [number, string, string, Record<string, string>, Uint8Array?][] = [
      [201, 'POST', '/uploads', { 'Upload-Length': '5' }],
      [200, 'HEAD', there, {}],
      [204, 'OPTIONS', '/uploads', {}],
      [401, 'POST', '/uploads', { Authorization: `Basic ${btoa('admin:wrong')}` }],
      [404, 'HEAD', `/uploads/${NOWHERE}`, {}],
      [405, 'PUT', there, {}],
      [409, 'PATCH', there, { ...type, 'Upload-Offset': '7' }, DATA],
      [412, 'HEAD', there, { 'Tus-Resumable': '0' }],
      [413, 'POST', '/uploads', { 'Upload-Length': String(MAX + 1) }],
      [415, 'PATCH', there, { 'Content-Type': 'a/b', 'Upload-Offset': '100' }, DATA],
      [460, 'PATCH', there, { ...type, ...wrong }, DATA.subarray(100)],
      [204, 'DELETE', there, {}],
    ];
    for (const [status, method, path, headers, body] of cases) {
      const answer = await tus(app, method, path, { Origin: SITE, ...headers }, body);
      expect([method, path, answer.status]).toEqual([method, path, status]);
      expect([status, answer.headers.get('Access-Control-Allow-Origin')]).toEqual([status, SITE]);
      const exposed = list(answer.headers.get('Access-Control-Expose-Headers'));
      expect(exposed).toEqual(expect.arrayContaining(EXPOSED));
      // Whatever is told can be read.
      const told = [...answer.headers.keys()].filter((name) => /^(tus|upload|location|retry)/.test(name));
      expect(exposed.map((name) => name.toLowerCase())).toEqual(expect.arrayContaining(told));
    }
  });

  test('of other sites read nothing and change nothing', async () => {
    const Origin = 'https://evil.example';
    const headers = { Origin, 'Access-Control-Request-Method': 'PATCH' };
    const preflight = await app.anonymous('/uploads', { method: 'OPTIONS', headers });
    expect(preflight.headers.get('Access-Control-Allow-Origin')).toBeNull();
    for (const method of ['POST', 'PATCH', 'DELETE']) {
      const answer = await tus(app, method, '/uploads', { Origin, 'Upload-Length': '5' });
      expect([answer.status, answer.headers.get('Access-Control-Allow-Origin')]).toEqual([403, null]);
    }
  });
});
