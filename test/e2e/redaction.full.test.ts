import { randomUUID } from 'node:crypto';
import { Redis } from 'ioredis';
import { sql } from 'kysely';
import { describe, expect, type TestContext, test } from 'vitest';
import { hashPassword } from '#access/accounts/secrets.ts';
import { Client } from '../support/client.ts';
import { recording } from '../support/clips.ts';
import { databaseForThisFile } from '../support/database.ts';
import { eventually } from '../support/eventually.ts';
import { eventFields, field, file } from '../support/form.ts';
import { AUDIENCE, ISSUER, type SigningKey, serveKeys, signingKey } from '../support/identity-provider.ts';
import { startProxy } from '../support/proxy.ts';
import { redisAvailable, startRedis, type TestRedis } from '../support/redis.ts';
import { startServerFor, type TestServer } from '../support/server.ts';

/** In every secret that somebody chose. */
const MARK = 'hush';
const secret = (of: string) => `${MARK}-${of}-${randomUUID()}`;

const db = databaseForThisFile();
const redisHere = await redisAvailable();

// Each runtime puts other things into its errors.
describe.skipIf(!redisHere).each(['deno', 'node'] as const)('on %s', (runtime) => {
  test('no secret gets into the log, whatever happens', { timeout: 240_000 }, async (context) => {
    const password = secret('admin');
    const key = await signingKey();
    const keys = await serveKeys(key.publicJwk);
    context.onTestFinished(keys.close);
    const redis = await startRedis();
    context.onTestFinished(redis.stop);
    const { proxy, databaseUrl } = await lockedDatabase(context);
    const server = await startServerFor(context, {
      runtime,
      s3: true,
      env: {
        HOST: '0.0.0.0',
        ALLOW_BUNDLED_FFMPEG: 'true',
        LOG_LEVEL: 'debug',
        // Without its services a process would use all the time it has.
        SHUTDOWN_SECONDS: '1',
        ADMIN_PASSWORD: password,
        URL_SIGNING_SECRET: secret('signing'),
        DATABASE_URL: databaseUrl,
        REDIS_URL: await locked(redis),
        AWS_SECRET_ACCESS_KEY: secret('storage'),
        AWS_SESSION_TOKEN: secret('session'),
        JWT_JWKS: keys.url,
        JWT_ISSUER: ISSUER,
        JWT_AUDIENCE: AUDIENCE,
      },
    });
    const admin = new Client(server.url, 'admin', password);
    const sent = [admin.authorization, ...(await askInManyWays(admin, key)), ...(await publishSigned(admin))];
    sent.push(...(await handOutAddresses(admin)));

    await proxy.part();
    await unavailable(server, 'database');
    expect((await admin.fetch('/api/events')).status).toBe(503);
    await proxy.join();
    await server.ready();
    await redis.restart();
    await locked(redis);
    await unavailable(server, 'queue');
    await server.s3.kill();
    await unavailable(server, 'storage');
    const lost = [...eventFields(), file('presenter', 'a.mpg', await recording({ container: 'mpg' }))];
    expect((await admin.upload(lost)).status).toBeGreaterThanOrEqual(500);
    server.api.signal('SIGTERM');
    await server.api.ended();

    const log = server.api.output;
    for (const msg of [
      'configuration',
      'request',
      'operation succeeded',
      'not ready',
      'stopping; a second signal stops immediately',
    ]) {
      expect(server.api.log.filter((line) => line.msg === msg)).not.toEqual([]);
    }
    expect(log.split('\n').filter((line) => line.includes(MARK))).toEqual([]);
    // What comes after the scheme, and the last part of what has several: a signature.
    for (const text of sent) {
      const hidden = text.split(/[ .]/).at(-1) ?? '';
      expect(hidden.length).toBeGreaterThan(20);
      expect(log.split('\n').filter((line) => line.includes(hidden))).toEqual([]);
    }
  });
});

/** Signs in rightly and wrongly. @returns the Authorization headers that were sent */
async function askInManyWays(admin: Client, key: SigningKey): Promise<string[]> {
  const reader = { username: 'reader', password: secret('account') };
  await db.database
    .insertInto('accounts')
    .values({
      username: reader.username,
      password_hash: await hashPassword(reader.password),
      roles: ['ROLE_API'],
    })
    .onConflict((known) =>
      known.column('username').doUpdateSet((row) => ({ password_hash: row.ref('excluded.password_hash') })),
    )
    .execute();
  const basic = (name: string, password: string) => admin.as(name, password).authorization;
  const stranger = await signingKey();
  const attempts: [status: number, authorization: string][] = [
    [200, admin.authorization],
    [200, basic(reader.username, reader.password)],
    [401, basic('admin', secret('wrong'))],
    [401, basic(secret('nobody'), secret('wrong'))],
    [401, `Basic ${secret('no base64')}`],
    [401, `Basic ${Buffer.from(secret('no colon')).toString('base64')}`],
    [401, `Digest username="admin", response="${secret('digest')}"`],
    [401, secret('no scheme')],
    [200, `Bearer ${await key.sign({ roles: ['ROLE_ADMIN'] })}`],
    [401, `Bearer ${await key.sign({ exp: 1 })}`],
    [401, `Bearer ${await key.sign({}, { kid: 'other' })}`],
    [401, `Bearer ${await stranger.sign()}`],
    [401, `Bearer ${secret('no token')}`],
  ];
  for (const [status, Authorization] of attempts) {
    const answer = await admin.fetch('/api/info/me', { headers: { Authorization } });
    expect([answer.status, Authorization]).toEqual([status, Authorization]);
  }
  const query = `?token=${secret('query')}&password=${secret('query')}`;
  expect((await admin.fetch(`/api/events${query}`)).status).toBe(200);
  const form = new URLSearchParams({ password: secret('field'), metadata: `[{"${secret('json')}"` });
  expect((await admin.fetch('/api/series', { method: 'POST', body: form })).status).toBe(400);
  expect((await admin.upload([field('password', secret('field'))])).status).toBe(400);
  return attempts.map(([, authorization]) => authorization);
}

/** Has addresses handed out, and uses them rightly and wrongly. @returns the secret ends of the addresses */
async function handOutAddresses(admin: Client): Promise<string[]> {
  const { files } = await admin.handOut([...eventFields(), field('files', 'presenter,presentation')]);
  const urls = files.map(({ url }) => url);
  const headers = {
    'Tus-Resumable': '1.0.0',
    'Upload-Offset': '0',
    'Upload-Length': '3',
    'Content-Type': 'application/offset+octet-stream',
  };
  for (const url of urls) {
    expect((await fetch(url, { method: 'PATCH', headers, body: 'abc' })).status).toBe(204);
    expect((await fetch(url, { method: 'PUT', body: 'abc' })).status).toBe(405);
    expect((await fetch(`${url}/more?x=1`)).status).toBe(404);
  }
  return urls.map((url) => url.split('/').at(-1) ?? '');
}

/** Has something published under a signed address, and uses it. @returns the signatures */
async function publishSigned(admin: Client): Promise<string[]> {
  const clip = await recording({ container: 'mpg' });
  const id = await admin.create([...eventFields(), file('presenter', 'a.mpg', clip)]);
  expect((await admin.processed(id)).processing_state).toBe('SUCCEEDED');
  const [publication] = await admin.json<{ url: string; media: { url: string }[] }[]>(
    `/api/events/${id}/publications?sign=true`,
  );
  const urls = [publication?.url ?? '', publication?.media[0]?.url ?? ''];
  for (const url of urls) expect((await fetch(url)).status).toBe(200);
  const [page = ''] = urls;
  expect((await fetch(page.replace('signature=', 'signature=0'))).status).toBe(403);
  return urls.flatMap((url) => {
    const { searchParams } = new URL(url);
    return [searchParams.get('signature') ?? '', searchParams.get('policy') ?? ''];
  });
}

/** The database of this file as somebody with a password sees it, through something that can be parted. */
async function lockedDatabase(context: TestContext) {
  const name = `test_${randomUUID().replaceAll('-', '')}`;
  const password = secret('database');
  await sql`CREATE ROLE ${sql.id(name)} SUPERUSER LOGIN PASSWORD ${sql.lit(password)}`.execute(db.database);
  context.onTestFinished(async () => {
    await sql`DROP ROLE ${sql.id(name)}`.execute(db.database);
  });
  const url = new URL(db.url);
  const proxy = await startProxy(url.hostname, Number(url.port || 5432));
  context.onTestFinished(proxy.stop);
  url.username = name;
  url.password = password;
  url.host = `127.0.0.1:${proxy.port}`;
  return { proxy, databaseUrl: url.href };
}

/** Sets a password for Redis and closes its connections, which have to authenticate again. @returns its URL with it */
async function locked({ url }: TestRedis): Promise<string> {
  const password = secret('redis');
  const connection = new Redis(url);
  await connection.config('SET', 'requirepass', password);
  await connection.client('KILL', 'TYPE', 'normal');
  connection.disconnect();
  return url.replace('redis://', `redis://:${password}@`);
}

/** Waits until the server says of a part that it is not there. */
async function unavailable({ url }: TestServer, part: string): Promise<void> {
  await eventually(async () => {
    const answer = await fetch(`${url}/health/ready`);
    expect([answer.status, await answer.json()]).toEqual([503, expect.objectContaining({ [part]: 'unavailable' })]);
  });
}
