import { Hono } from 'hono';
import { HTTPException } from 'hono/http-exception';
import { sql } from 'kysely';
import pino from 'pino';
import { beforeEach, expect, test } from 'vitest';
import { databaseForThisFile } from '../../test/support/database.ts';
import { handleErrors } from './error-handler.ts';
import { HttpError } from './errors.ts';
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
  return { status: response.status, headers: response.headers, text: await response.text() };
}

test('a refusal is its sentence with its headers', async () => {
  const { status, headers, text } = await ask('/refused');
  expect([status, text, headers.get('Retry-After')]).toEqual([429, 'Slow down.', '7']);
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

test('exceptions of Hono keep status and message', async () => {
  expect(await ask('/hono')).toMatchObject({ status: 400, text: 'Malformed.' });
});

test.each([
  ['40P01', 'Others are changing the same at this moment.'],
  ['55P03', 'Others are changing the same at this moment.'],
  ['57014', 'The database does not answer.'],
  ['25P03', 'The database does not answer.'],
])('a transaction or statement that the database ends (%s) may be tried again', async (code, sentence) => {
  const { status, headers, text } = await ask(`/ended/${code}`);
  expect([status, text, headers.get('Retry-After')]).toEqual([503, sentence, '5']);
});

test('a database that is away is said so', async () => {
  const { status, headers, text } = await ask('/down');
  expect([status, text]).toEqual([503, 'The database does not answer.']);
  expect(Number(headers.get('Retry-After'))).toBeGreaterThan(0);
});

test('a NUL character that reaches the database is the client’s mistake', async () => {
  expect(await ask('/stored/a%00b')).toMatchObject({ status: 400 });
});

test('an unknown path is 404, an unknown method 405 with those the path knows', async () => {
  expect(await ask('/nothing')).toMatchObject({
    status: 404,
    text: 'The resource you requested does not exist.',
  });
  const wrong = await ask('/things/1', { method: 'PUT' });
  expect(wrong.status).toBe(405);
  expect(wrong.headers.get('Allow')).toBe('GET, HEAD, DELETE');
});

test('a 404 that a handler returns stays one', async () => {
  const response = await app.request('/things/1', { method: 'DELETE' });
  expect([response.status, await response.text()]).toEqual([404, 'There is none.']);
});

test('the connection closes when a long body is refused unread', async () => {
  for (const [length, connection] of [
    ['99999999', 'close'],
    ['1', null],
  ] as const) {
    const init = { method: 'POST', body: 'x', headers: { 'Content-Length': length } };
    const { headers } = await ask('/nothing', init);
    expect([length, headers.get('Connection')]).toEqual([length, connection]);
  }
});
