import { Hono } from 'hono';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../test/support/database.ts';
import { FOR_AGES } from '../../test/support/watched.ts';
import { Principal } from '../access/principal.ts';
import { handleErrors } from '../http/error-handler.ts';
import { readFields } from '../http/form/form.ts';
import { requestContext } from '../http/request-context.ts';
import { silentLogger } from '../telemetry/log.ts';
import { Idempotency } from './idempotency.ts';
import { IdempotencyLedger } from './ledger.ts';

let db: TestDatabase;
let ledger: IdempotencyLedger;
let app: Hono;
/** What happens after the answer is remembered, in the transaction. */
let afterwards: () => Promise<void> = async () => undefined;
let made = 0;

beforeAll(async () => {
  db = await createTestDatabase();
  ledger = new IdempotencyLedger({ database: db.database, watch: { seen: FOR_AGES }, log: silentLogger });
  const idempotency = new Idempotency(ledger);
  app = new Hono({ strict: false });
  app.use(requestContext(silentLogger));
  handleErrors(app);
  app.use(async (c, next) => {
    const [provider = '', username = ''] = (c.req.header('X-Test-Account') ?? 'inlet/ada').split('/');
    const principal = new Principal({ username, name: '', email: '', provider, roles: new Set() });
    c.set('principal', principal);
    c.set('signedIn', principal);
    c.set('account', username);
    await next();
  });
  for (const path of ['/things', '/others']) {
    app.post(path, async (c) => {
      const fields = new Map(await readFields(c.req.raw));
      return idempotency.answer(c, { fields }, async (remember) => {
        made += 1;
        const answer = c.body(`thing ${made}`, 201, {
          'Content-Type': 'text/plain',
          Location: `/things/${made}`,
        });
        await db.database.transaction().execute(async (trx) => {
          await remember(trx, answer);
          await afterwards();
        });
        return answer;
      });
    });
  }
});
afterAll(async () => {
  ledger.close();
  await db.close();
});

async function send(key: string, fields: Record<string, string>, path = '/things', account = 'inlet/ada') {
  const headers = { 'Idempotency-Key': key, 'X-Test-Account': account };
  const answer = await app.request(path, { method: 'POST', headers, body: new URLSearchParams(fields) });
  return {
    status: answer.status,
    text: await answer.text(),
    location: answer.headers.get('Location'),
    replayed: answer.headers.get('Idempotent-Replayed'),
  };
}

test('a request whose content is at hand is answered again, on its own path only', async () => {
  const first = await send('a', { x: '1', y: '2' });
  expect(first).toMatchObject({
    status: 201,
    location: expect.stringMatching(/^\/things\/\d+$/),
    replayed: null,
  });
  expect(await send('a', { y: '2', x: '1' }, '/things/')).toEqual({ ...first, replayed: 'true' });
  expect((await send('a', { x: '1', y: '2' }, '/others')).status).toBe(422);
  expect((await send('a', { x: '1', y: '3' })).status).toBe(422);
  expect((await send('a', { x: '1' })).status).toBe(422);
});

test('accounts of the same name, known here and to the identity provider, share no key', async () => {
  const first = await send('b', {});
  const other = await send('b', {}, '/things', 'jwt/ada');
  expect([other.replayed, other.text === first.text]).toEqual([null, false]);
});

test('a transaction that fails after the answer was remembered leaves the key free', async () => {
  afterwards = async () => {
    throw new Error('the database is gone');
  };
  expect((await send('c', {})).status).toBe(500);
  afterwards = async () => undefined;
  expect(await send('c', { other: 'fields' })).toMatchObject({ status: 201, replayed: null });
});
