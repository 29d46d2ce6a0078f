import { Hono } from 'hono';
import pino from 'pino';
import { beforeEach, expect, test } from 'vitest';
import { securityHeaders } from './assemble-app.ts';
import { requestContext } from './request-context.ts';

let lines: Record<string, unknown>[] = [];
const log = pino({}, { write: (line) => void lines.push(JSON.parse(line)) });
const app = new Hono();
app.use(requestContext(log), securityHeaders([{ path: '/api', contentPolicy: "frame-ancestors 'none'" }]));
app.get('/api/thing', (c) => {
  c.set('account', 'ada');
  c.var.log.info('inside');
  return c.text('here');
});
app.get('/watch', (c) => c.html('<p>', 200, { 'Content-Security-Policy': "media-src 'self'" }));
app.get('/moved', () => Response.redirect('https://elsewhere.example/', 302));

beforeEach(() => {
  lines = [];
});

test('a sane identifier of the client is kept, in the answer and in the log', async () => {
  const response = await app.request('/api/thing', { headers: { 'X-Request-Id': 'upload-17.a:b' } });
  expect(response.headers.get('X-Request-Id')).toBe('upload-17.a:b');
  expect(lines.map(({ msg, requestId }) => [msg, requestId])).toEqual([
    ['inside', 'upload-17.a:b'],
    ['request', 'upload-17.a:b'],
  ]);
});

test.each(['', 'two words', '"quoted"', 'x'.repeat(129)])('the identifier %j is replaced', async (given) => {
  const response = await app.request('/api/thing', { headers: { 'X-Request-Id': given } });
  expect(response.headers.get('X-Request-Id')).toMatch(/^[0-9a-f]{8}-[0-9a-f-]{27}$/);
});

test('the line of a request says what was asked, by whom and how it ended, and no secret', async () => {
  await app.request('/api/thing?policy=hidden', { headers: { Authorization: 'Basic aGlkZGVu' } });
  expect(lines[1]).toMatchObject({ method: 'GET', path: '/api/thing', status: 200, account: 'ada' });
  expect(JSON.stringify(lines)).not.toMatch(/hidden|aGlkZGVu|authorization/i);
});

test('a handler’s own policy stays, and pages can be framed outside of the API', async () => {
  const watch = await app.request('/watch');
  expect(watch.headers.get('Content-Security-Policy')).toBe("media-src 'self'");
  expect(watch.headers.get('X-Frame-Options')).toBeNull();
  expect(watch.headers.get('X-Content-Type-Options')).toBe('nosniff');
  const api = await app.request('/api/thing');
  expect(api.headers.get('Content-Security-Policy')).toContain("frame-ancestors 'none'");
});

test('headers are added to answers that cannot be changed in place', async () => {
  const response = await app.request('/moved');
  expect(response.status).toBe(302);
  expect(response.headers.get('Location')).toBe('https://elsewhere.example/');
  expect(response.headers.get('X-Request-Id')).not.toBeNull();
});

test.each([
  ['/secret/token-of-somebody', '/secret/[redacted]'],
  ['/secret/token-of-somebody/more?x=1', '/secret/[redacted]'],
  ['//Secret/token-of-somebody', '//Secret/[redacted]'],
  ['/%73ecret/token-of-somebody', '/secret/[redacted]'],
  ['/secret%2Ftoken-of-somebody', '/secret/[redacted]'],
  ['/api/secretary', '/api/secret/[redacted]'],
  ['/open/token', '/open/token'],
])('of %s the log has %s', async (path, shown) => {
  const secretive = new Hono().use(requestContext(log, { secrets: ['/secret'] }));
  await secretive.get('*', (c) => c.text('')).request(path);
  expect(lines.map((line) => line.path)).toEqual([shown]);
});
