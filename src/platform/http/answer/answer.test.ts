import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { Hono } from 'hono';
import { describe, expect, onTestFinished, test } from 'vitest';
import { lengthForHead } from '../app/assemble-app.ts';
import { handleErrors } from '../app/error-handler.ts';
import { Assets, browserModules } from './asset.ts';
import { allowsRange, matchesNone, strongEtag } from './etag.ts';

describe('entity tags', () => {
  const etag = strongEtag('abc');

  test.each<[string | undefined, boolean]>([
    ...['"abc"', 'W/"abc"', '"x", "abc"', '"x","abc"', ' * '].map((header) => [header, true] as const),
    ...[undefined, '', '"ab"', '"abcd"', 'abc', '"x", "y"', '"*"'].map((header) => [header, false] as const),
  ] as [string | undefined, boolean][])('If-None-Match: %s has it, strong or weak: %s', (header, has) => {
    expect([matchesNone(header, etag), matchesNone(header, `W/${etag}`)]).toEqual([has, has]);
  });

  test.each([
    [undefined, etag, true],
    ['"abc"', etag, true],
    ['"abcd"', etag, false],
    ['W/"abc"', etag, false],
    ['W/"abc"', 'W/"abc"', false],
    ['Wed, 01 May 2024 08:00:00 GMT', etag, false],
  ])('If-Range: %s of %s allows a range: %s', (header, tag, allowed) => {
    expect(allowsRange(header, tag)).toBe(allowed);
  });
});

describe('HEAD', () => {
  const app = new Hono()
    .use(lengthForHead())
    .get('/text', (c) => c.text('ä'))
    .get('/file', (c) => c.body(null, 200, { 'Content-Length': '5' }))
    .get('/nothing', (c) => c.body(null, 204));

  test.each([
    ['/text', 200, '2'],
    ['/file', 200, '5'],
    ['/nothing', 204, null],
    ['/unknown', 404, '13'],
  ])('HEAD %s has the length of GET, and no body', async (path, status, length) => {
    const answer = await app.request(path, { method: 'HEAD' });
    expect([answer.status, answer.headers.get('Content-Length')]).toEqual([status, length]);
    expect(await answer.text()).toBe('');
  });

  test('a long list is not read for the length it would have', async () => {
    let read = 0;
    let cancelled = false;
    const source = {
      pull: (controller: ReadableStreamDefaultController) => {
        read += 1;
        controller.enqueue(new Uint8Array(2 ** 19));
      },
      cancel: () => {
        cancelled = true;
      },
    };
    const endless = new ReadableStream<Uint8Array>(source, { highWaterMark: 0 });
    const list = new Hono().use(lengthForHead()).get('/', (c) => c.body(endless, 200, { Link: '<x>' }));
    const answer = await list.request('/', { method: 'HEAD' });
    expect([answer.status, answer.headers.get('Link')]).toEqual([200, '<x>']);
    expect(answer.headers.has('Content-Length')).toBe(false);
    expect([read, cancelled]).toEqual([3, true]);
  });

  test('GET is left as it is', async () => {
    const answer = await app.request('/text');
    expect(answer.headers.has('Content-Length')).toBe(false);
    expect(await answer.text()).toBe('ä');
  });
});

describe('modules for browsers', () => {
  const MODULE = "export { clock } from './clock.js';\n";

  async function moduleApp() {
    const folder = await mkdtemp(join(tmpdir(), 'modules-'));
    onTestFinished(() => rm(folder, { recursive: true }));
    await writeFile(join(folder, 'player.js'), MODULE);
    await writeFile(join(folder, 'types.d.ts'), '');
    const assets = new Assets(browserModules(pathToFileURL(`${folder}/`)));
    const app = new Hono();
    handleErrors(app);
    app.get('/assets/:name', (c) => assets.answer(c, c.req.param('name')));
    return { app, folder };
  }

  test('are served as they are, to frames of any origin, and not again to who has them', async () => {
    const { app } = await moduleApp();
    const answer = await app.request('/assets/player.js');
    expect(await answer.text()).toBe(MODULE);
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'content-type': 'text/javascript; charset=utf-8',
      'cache-control': 'no-cache',
      'access-control-allow-origin': '*',
    });
    const headers = { 'If-None-Match': answer.headers.get('ETag') ?? '' };
    const again = await app.request('/assets/player.js', { headers });
    expect([again.status, await again.text()]).toEqual([304, '']);
  });

  test.each([
    ['gzip, deflate, br', 'gzip'],
    ['br;q=1.0, gzip;q=0.8', 'gzip'],
    ['GZIP', 'gzip'],
    ['gzip;q=0, identity', null],
    ['gzip;q=0 , br', null],
    ['gzip; q=0.000', null],
    ['x-gzip-old', null],
    ['br', null],
  ])('are compressed for clients that accept gzip: %s', async (accepted, encoding) => {
    const { app } = await moduleApp();
    const headers = { 'Accept-Encoding': accepted };
    const answer = await app.request('/assets/player.js', { headers });
    expect([answer.headers.get('Content-Encoding'), answer.headers.get('Vary')]).toEqual([encoding, 'Accept-Encoding']);
    const bytes = Buffer.from(await answer.arrayBuffer());
    expect((encoding ? gunzipSync(bytes) : bytes).toString()).toBe(MODULE);
    const known = { ...headers, 'If-None-Match': answer.headers.get('ETag') ?? '' };
    expect((await app.request('/assets/player.js', { headers: known })).status).toBe(304);
    const plain = await app.request('/assets/player.js');
    expect(plain.headers.get('ETag') === answer.headers.get('ETag')).toBe(encoding === null);
  });

  test.each(['types.d.ts', 'later.js', '..%2Fplayer.js', '%2Fetc%2Fpasswd', 'constructor'])(
    '%s is none of them',
    async (name) => {
      const { app, folder } = await moduleApp();
      await writeFile(join(folder, 'later.js'), MODULE);
      expect((await app.request(`/assets/${name}`)).status).toBe(404);
    },
  );
});
