import { Hono } from 'hono';
import { HTTPException } from 'hono/http-exception';
import { sql } from 'kysely';
import pino from 'pino';
import { beforeEach, expect, test } from 'vitest';
import { databaseForThisFile } from '#test/support/database.ts';
import { HttpError } from '../errors/errors.ts';
import { handleErrors } from './error-handler.ts';
import { requestContext } from './request-context.ts';

const db = databaseForThisFile();
let lines: string[] = [];
const app = new Hono({ strict: false });
app.use(requestContext(pino({}, { write: (line) => void lines.push(line) })));
handleErrors(app);

const faults: Record<string, () => unknown> = {
  '/refused': () => new HttpError(429, 'Slow down.', { 'Retry-After': '7' }),
  '/broken': () => new Error('secret detail of /srv/inlet'),
  '/hono': () => new HTTPException(400, { message: 'Malformed.' }),
  '/down': () => Object.assign(new Error('connect ECONNREFUSED 10.0.0.1:5432'), { code: 'ECONNREFUSED' }),
};
for (const [path, fault] of Object.entries(faults)) {
  app.get(path, () => {
    throw fault();
  });
}
app.get('/ended/:code', async (c) => {
  const raise = `DO $$ BEGIN RAISE EXCEPTION 'secret' USING ERRCODE = '${c.req.param('code')}'; END $$`;
  await sql.raw(raise).execute(db.database);
});
app.get('/stored/:text', async (c) => {
  const { rows } = await sql`SELECT ${c.req.param('text')}::text AS text`.execute(db.database);
  return c.json(rows);
});
app.post('/things', (c) => c.text('made', 201));
app.get('/things/:id', (c) => c.text(c.req.param('id')));
app.delete('/things/:id', (c) => c.text('There is none.', 404));
beforeEach(() => {
  lines = [];
});

async function ask(path: string, init?: RequestInit) {
  const response = await app.request(path, init);
  expect(response.headers.get('Content-Type')).toBe('text/plain; charset=utf-8');
  expect(response.headers.get('Cache-Control')).toBe('no-store');
  return { status: response.status, headers: response.headers, text: await response.text() };
}

const OTHERS = 'The resource is being changed by another request. Try again.';
const AWAY = 'The database does not answer.';
test.each([
  ['a refusal is its sentence with its headers', '/refused', 429, 'Slow down.', '7'],
  ['exceptions of Hono keep status and message', '/hono', 400, 'Malformed.', null],
  ['a deadlock may be tried again', '/ended/40P01', 503, OTHERS, '5'],
  ['what waited for a lock may be tried again', '/ended/55P03', 503, OTHERS, '5'],
  ['a statement that took too long may be tried again', '/ended/57014', 503, AWAY, '5'],
  ['a transaction that was idle may be tried again', '/ended/25P03', 503, AWAY, '5'],
  ['a database that is away is said so', '/down', 503, AWAY, expect.stringMatching(/^[1-9]/)],
  ['a NUL that reaches the database is the client’s mistake', '/stored/a%00b', 400, expect.any(String), null],
  ['an unknown path is 404', '/nothing', 404, 'The resource you requested does not exist.', null],
])('%s', async (_, path, status, sentence, retryAfter) => {
  const { headers, ...answer } = await ask(path);
  expect(answer).toEqual({ status, text: sentence });
  expect(headers.get('Retry-After')).toEqual(retryAfter);
});

test('an unexpected error tells the log everything and the client the request id only', async () => {
  const { status, headers, text } = await ask('/broken');
  expect(status).toBe(500);
  expect(text).not.toContain('secret');
  expect(text).toContain(headers.get('X-Request-Id'));
  const logged = lines.find((line) => line.includes('secret detail'));
  expect(logged).toContain('error-handler.integration.test.ts');
  expect(logged).toContain(String(headers.get('X-Request-Id')));
});

test('an unknown method is 405 with those the path knows', async () => {
  const wrong = await ask('/things/1', { method: 'PUT' });
  expect(wrong.status).toBe(405);
  expect(wrong.headers.get('Allow')).toBe('GET, HEAD, DELETE');
});

test('a 404 that a handler returns stays one', async () => {
  const response = await app.request('/things/1', { method: 'DELETE' });
  expect([response.status, await response.text()]).toEqual([404, 'There is none.']);
});

test('the connection closes when a long body is refused unread', async () => {
  const connectionAfter = async (length: string) => {
    const init = { method: 'POST', body: 'x', headers: { 'Content-Length': length } };
    return (await ask('/nothing', init)).headers.get('Connection');
  };
  expect([await connectionAfter('99999999'), await connectionAfter('1')]).toEqual(['close', null]);
});
