import { Hono } from 'hono';
import { expect, test } from 'vitest';
import { handleErrors } from '#platform/http/app/error-handler.ts';
import { requestContext } from '#platform/http/app/request-context.ts';
import type { ObjectStorage } from '#platform/storage/object-storage.ts';
import { silentLogger } from '#platform/telemetry/log.ts';
import { PLAYLIST } from './publication.ts';
import { servePlaylist, signPlaylist } from './serve-playlist.ts';

const READERS = { is_public: true, is_readable: true };
const FILE = { object_key: 'element/aa/1', size: 5, sha256: '', duration: null, ...READERS };
const STORED = { ...FILE, filename: 'presenter.m3u8', mediatype: PLAYLIST, properties: {} };
const RENDITION = {
  ...{ ...FILE, filename: 'presenter.mp4', mediatype: 'video/mp4' },
  properties: { headBytes: 100, codecs: ['avc1.64001f'], peakBitRate: 1, averageBitRate: 1 },
};

/** Serves the playlist of a file whose object is read from a stream. */
function serve(file: typeof STORED | typeof RENDITION, source: UnderlyingDefaultSource<Uint8Array>) {
  const app = new Hono();
  app.use(requestContext(silentLogger));
  handleErrors(app);
  const storage = { get: async () => new ReadableStream(source) } as Partial<ObjectStorage> as ObjectStorage;
  const answer = { url: 'http://x/p/e/index.m3u8', sign: undefined, headers: {} };
  app.get('/', async (c) => (await servePlaylist(c, storage, file, answer)) ?? c.body(null, 404));
  return app.request('/');
}

const reset = () => Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' });

test.each([
  ['a stored playlist breaks off', STORED, (controller: ReadableStreamDefaultController) => controller.error(reset())],
  ['a rendition breaks off', RENDITION, (controller: ReadableStreamDefaultController) => controller.error(reset())],
  [
    'a rendition is shorter than its head',
    RENDITION,
    (controller: ReadableStreamDefaultController) => controller.close(),
  ],
])('the storage is named as the fault when %s', async (_, file, start) => {
  const answer = await serve(file, { start });
  expect([answer.status, await answer.text()]).toEqual([503, 'The object storage does not answer.']);
  expect(answer.headers.get('Retry-After')).toBe('30');
});

test('each address that a playlist names is signed once', () => {
  const text = ['#EXT-X-MAP:URI="a.mp4"', '#EXTINF:2,', 'a.mp4', '#EXTINF:2,', 'a.mp4', '../f/b.mp4', ''].join('\n');
  const asked: string[] = [];
  const signed = signPlaylist(text, 'http://x/p/e/index.m3u8', (url) => `${url}?signature=${asked.push(url)}`);
  expect(asked).toEqual(['http://x/p/e/a.mp4', 'http://x/p/f/b.mp4']);
  expect(signed.split('\n').filter((line) => line.includes('mp4'))).toEqual([
    '#EXT-X-MAP:URI="a.mp4?signature=1"',
    'a.mp4?signature=1',
    'a.mp4?signature=1',
    '../f/b.mp4?signature=2',
  ]);
});
