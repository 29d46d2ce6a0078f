import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, afterEach, beforeEach, expect, test } from 'vitest';
import { bucketPlace } from '#platform/storage/s3-backend.ts';
import { bytes } from '../support/bytes.ts';
import { Client } from '../support/client.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { eventually } from '../support/eventually.ts';
import { eventFields, field, file, form } from '../support/form.ts';
import { freePort } from '../support/free-port.ts';
import { OpenUpload } from '../support/open-upload.ts';
import { startProxyTo, type TestProxy } from '../support/proxy.ts';
import { insertElement, insertEvent, insertPublication } from '../support/publication.ts';
import { RoleProcess } from '../support/role-process.ts';
import { startS3 } from '../support/s3.ts';
import { SseReader } from '../support/sse.ts';
import { zipOf } from '../support/zip.ts';

const ISOLATES = 2;
/** Before all isolates have got one. */
const MOST_UPLOADS = 60;

const s3 = await startS3();
afterAll(() => s3.stop());

let db: TestDatabase;
let proxy: TestProxy;
let edge: RoleProcess;
let admin: Client;

beforeEach(async (test) => {
  db = await createTestDatabase();
  const through = await startProxyTo(db.url);
  proxy = through.proxy;
  const port = await freePort();
  admin = new Client(`http://127.0.0.1:${port}`);
  edge = new RoleProcess('edge', 'deno', {
    DATABASE_URL: through.url,
    PORT: String(port),
    URL_SIGNING_SECRET: 'secret',
    TRUSTED_PROXIES: 'loopback',
    ...s3.env,
  });
  test.onTestFailed(() => console.error(edge.output.slice(-8_000)));
});
afterEach(async () => {
  await edge.kill();
  await proxy.stop();
  await db.close();
});

const health = async (about: 'live' | 'ready') => {
  const answer = await fetch(`${admin.url}/health/${about}`, { headers: { Connection: 'close' } });
  return answer.status;
};
const listens = () => eventually(async () => expect(await health('live')).toBe(200), 30_000);
const ready = () => eventually(async () => expect(await health('ready')).toBe(200), 30_000);

test('begins while the database is away, says so, and works once it is there', async () => {
  await proxy.part();
  edge.start();
  await listens();
  expect(await health('ready')).toBe(503);
  // Who asks meanwhile waits for it, up to a point.
  const asked = admin.fetch('/api/events');
  await proxy.join();
  expect((await asked).status).toBe(200);
  await ready();
  expect((await admin.upload([...eventFields(), file('presenter', 'a.mp4', bytes(1000))])).status).toBe(201);
});

test('runs in several isolates, each with a name of its own and none in the way of another', async () => {
  edge.start({ DENO_JOBS: String(ISOLATES) });
  await listens();
  const { type, body } = form([...eventFields(), file('presenter', 'a.mp4', bytes(2 ** 20))]);
  const owners = db.database.selectFrom('staging').select('owner').distinct().where('owner', 'is not', null);
  const uploads: OpenUpload[] = [];
  // Which of them a connection leads to is for the system to decide, and each is built with its first request.
  while ((await owners.execute()).length < ISOLATES && uploads.length < MOST_UPLOADS) {
    const upload = new OpenUpload(admin, { type, length: body.length });
    uploads.push(upload);
    await upload.write(body.subarray(0, body.length / 2));
    await eventually(async () => expect(await staged()).toBe(uploads.length), 30_000);
  }
  expect(await owners.execute()).toHaveLength(ISOLATES);
  for (const upload of uploads) {
    await upload.write(body.subarray(body.length / 2));
    upload.end();
  }
  const answers = await Promise.all(uploads.map(({ answer }) => answer));
  expect(answers.map(({ status }) => status)).toEqual(uploads.map(() => 201));
  edge.signal('SIGTERM');
  expect(await edge.ended()).toBe(0);
});

test('told to end, it answers what is under way, ends streams, and leaves nothing', async () => {
  edge.start();
  await listens();
  await ready();
  const { type, body } = form([...eventFields(), file('presenter', 'a.mp4', bytes(2 ** 20))]);
  const upload = new OpenUpload(admin, { type, length: body.length });
  await upload.write(body.subarray(0, body.length / 2));
  const stream = await SseReader.open((signal) => admin.fetch('/api/updates', { signal }));
  await eventually(async () => expect(await staged()).toBe(1));
  edge.signal('SIGTERM');
  await eventually(() => expect(stream.ended).toBe(true));
  await eventually(async () => {
    const refused = connect(Number(new URL(admin.url).port), '127.0.0.1');
    await expect(once(refused, 'connect').finally(() => refused.destroy())).rejects.toThrow('ECONNREFUSED');
  });
  expect(edge.running).toBe(true);
  await upload.write(body.subarray(body.length / 2));
  upload.end();
  expect((await upload.answer).status).toBe(201);
  expect(await edge.ended()).toBe(0);
  expect(await staged()).toBe(0);
  const phases = edge.log.filter(({ msg }) => msg === 'shutdown phase finished');
  expect(phases.map(({ phase }) => phase)).toEqual(['answer open requests', 'connections']);
  expect(edge.log.filter(({ level }) => ['text', 'error', 'fatal'].includes(level))).toEqual([]);
});

test('what hangs does not keep it from ending in time', async () => {
  edge.start({ SHUTDOWN_SECONDS: '2' });
  await listens();
  await ready();
  const { type, body } = form([...eventFields(), file('presenter', 'a.mp4', bytes(2 ** 20))]);
  const upload = new OpenUpload(admin, { type, length: body.length });
  await upload.write(body.subarray(0, body.length / 2));
  await eventually(async () => expect(await staged()).toBe(1));
  const started = performance.now();
  edge.signal('SIGTERM');
  await edge.ended();
  expect(performance.now() - started).toBeLessThan(20_000);
});

test('tells figures of the service and of itself', async () => {
  edge.start();
  await listens();
  // Those of parts that take longer than some seconds, such as to connect for the first time, are left out.
  await eventually(async () => {
    const answer = await admin.fetch('/metrics');
    expect(answer.status).toBe(200);
    const text = await answer.text();
    for (const name of ['process_cpu_seconds_total', 'inlet_database_connections', 'inlet_queue_jobs']) {
      expect(text).toMatch(new RegExp(`^${name}[ {]`, 'm'));
    }
  }, 30_000);
});

test('signs addresses for the computer that a trusted proxy tells', async () => {
  edge.start();
  await listens();
  Object.assign(process.env, s3.env);
  const storage = await bucketPlace({ bucket: s3.env.S3_BUCKET ?? '', forcePathStyle: true }).open();
  const event_id = await insertEvent(db.database);
  const publication_id = await insertPublication(db.database, event_id);
  const element = { event_id, publication_id, kind: 'media', filename: 'a.mp4' } as const;
  const { id } = await insertElement(db.database, storage, Buffer.from('bytes'), element);
  await storage.close();
  const file = `${admin.url}/publications/${publication_id}/${id}/a.mp4`;
  const signed = await admin.fetch('/api/security/sign', {
    method: 'POST',
    body: new URLSearchParams({ url: file, 'valid-source': '192.0.2.7' }),
  });
  const { url } = (await signed.json()) as { url: string };
  const as = (address: string) => fetch(url, { headers: { 'X-Forwarded-For': address } });
  expect(await (await as('192.0.2.7')).text()).toBe('bytes');
  expect((await as('192.0.2.8')).status).toBe(403);
});

test('takes zip archives, also those that give the sizes of their files behind them, without a folder', async () => {
  edge.start();
  await listens();
  const manifest = `<mediapackage xmlns="http://mediapackage.opencastproject.org"><media><track type="presenter/source"><url>a.mp4</url></track></media></mediapackage>`;
  const send = (descriptor: boolean) => {
    const sizes = descriptor ? { descriptor: { signed: true, wide: false } } : {};
    const zip = zipOf([
      { name: 'manifest.xml', content: manifest },
      { name: 'a.mp4', content: Buffer.from(bytes(100_000)), ...sizes },
    ]);
    const parts = [field('workflowDefinitionId', 'fast'), file('track', 'a.zip', zip)];
    return admin.post('/ingest/addZippedMediaPackage', parts);
  };
  expect((await send(false)).status).toBe(200);
  expect((await send(true)).status).toBe(200);
  expect(await staged()).toBe(0);
});

async function staged(): Promise<number> {
  const rows = await db.database.selectFrom('staging').selectAll().where('owner', 'is not', null).execute();
  return rows.length;
}
