import { Hono } from 'hono';
import { expect, test } from 'vitest';
import { lengthForHead } from './head.ts';

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
  expect(answer.status).toBe(status);
  expect(answer.headers.get('Content-Length')).toBe(length);
  expect(await answer.text()).toBe('');
});

test('a long list is not read for the length it would have', async () => {
  let read = 0;
  let cancelled = false;
  const endless = new ReadableStream<Uint8Array>(
    {
      pull: (controller) => {
        read += 1;
        controller.enqueue(new Uint8Array(2 ** 19));
      },
      cancel: () => {
        cancelled = true;
      },
    },
    { highWaterMark: 0 },
  );
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
