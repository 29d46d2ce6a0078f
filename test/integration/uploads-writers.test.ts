import { createHash } from 'node:crypto';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { Locks } from '../../src/database/locks.ts';
import { silentLogger } from '../../src/telemetry/log.ts';
import { uploadedBytes } from '../../src/telemetry/metrics.ts';
import { bytes, sha256 } from '../support/bytes.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { eventually } from '../support/eventually.ts';
import { expectNothingLeftOver } from '../support/leftovers.ts';
import type { OpenUpload } from '../support/open-upload.ts';
import { createPartedDatabase, type PartedDatabase } from '../support/parted-database.ts';
import { expectStored, rowOf } from '../support/resumable.ts';
import { startS3, type TestS3 } from '../support/s3.ts';
import { type ServedApp, serveApp } from '../support/serve-uploads.ts';
import { FOR_AGES } from '../support/watched.ts';

const MIB = 2 ** 20;
const data = bytes(50 * MIB);

/** How many bytes the servers of this process have received, durable or not. */
const received = async () => (await uploadedBytes.get()).values[0]?.value ?? 0;

/** Sends bytes, and waits until all of them have come. */
async function sendSome(sending: OpenUpload, some: Uint8Array): Promise<void> {
  const before = await received();
  await sending.write(some);
  await eventually(async () => expect((await received()) - before).toBeGreaterThanOrEqual(some.length));
}

/** Begins an upload and sends some of it, of which the server has so much when this resolves. */
async function halfway({ admin, app }: ServedApp, sent: number, durable: number) {
  const path = await admin.create(data.length);
  const sending = admin.open(path, 0, data.length);
  await sendSome(sending, data.subarray(0, sent));
  await eventually(async () => expect((await rowOf(app.database, path)).stored).toBe(durable));
  return { path, sending };
}

describe.each(['folder', 'S3'])('on %s', (kind) => {
  let s3: TestS3 | undefined;
  let here: ServedApp;
  let there: ServedApp;
  beforeAll(async () => {
    if (kind === 'S3') s3 = await startS3();
    Object.assign(process.env, s3?.env);
    here = await serveApp({ ...s3?.env });
    there = await serveApp(environmentOf(here));
  });
  afterAll(async () => {
    await there?.close();
    await here?.app.context.staging.sweep(FOR_AGES);
    await here?.close();
    await s3?.stop();
  });

  /** Of a process beside it. */
  const environmentOf = ({ app }: ServedApp) => ({
    ...s3?.env,
    DATABASE_URL: app.context.databaseUrl,
    DATA_DIR: app.context.config.dataDir,
  });

  test('another process takes an upload over whose client has fallen silent, with all that came', async () => {
    const { path, sending } = await halfway(here, 40 * MIB, kind === 'S3' ? 40 * MIB : 32 * MIB);
    expect(await there.admin.offset(path)).toBe(40 * MIB);
    const { status, headers } = await sending.answer;
    expect([status, headers['upload-offset'], headers.connection]).toEqual([204, String(40 * MIB), 'close']);
    expect((await there.admin.patch(path, 40 * MIB, data.subarray(40 * MIB))).status).toBe(204);
    await expectStored(here.app, path, data);
    // Nobody has seen all of its bytes.
    expect((await rowOf(here.app.database, path)).sha256).toBeNull();
  });

  test('a process that does not know that it has lost an upload changes nothing any more', async () => {
    const elsewhere = await createTestDatabase();
    const locks = new Locks(elsewhere.url, silentLogger);
    const unaware = await serveApp(environmentOf(here), undefined, { locks });
    onTestFinished(async () => {
      await unaware.close();
      await locks.close();
      await elsewhere.close();
    });
    const durable = (kind === 'S3' ? 35 : 32) * MIB;
    const { path, sending } = await halfway({ ...here, admin: unaware.admin }, 36 * MIB, durable);
    expect(await here.admin.offset(path)).toBe(durable);
    expect((await here.admin.finish(path, data)).status).toBe(204);
    await sending.write(data.subarray(36 * MIB));
    sending.end();
    expect(await sending.answer).toMatchObject({
      status: 423,
      body: 'Another request is writing to the upload. Try again in a moment.',
    });
    await expectStored(here.app, path, data);
  });

  test('of two that write at once one does, and what it wrote is there', async () => {
    const path = await here.admin.create(data.length);
    const both = [data, bytes(data.length, 2)];
    const answers = await Promise.all([
      here.admin.patch(path, 0, both[0] as Buffer),
      there.admin.patch(path, 0, both[1] as Buffer),
    ]);
    const wrote = answers.filter(({ headers }) => Number(headers.get('Upload-Offset')) > 0);
    expect(wrote).toHaveLength(1);
    for (const answer of answers.filter((each) => !wrote.includes(each))) {
      expect([204, 409, 423]).toContain(answer.status);
    }
    const written = both[answers.indexOf(wrote[0] as Response)] as Buffer;
    expect((await here.admin.finish(path, written)).status).toBe(204);
    await expectStored(here.app, path, written);
  });

  test('whoever asks how far an upload is that is being sent hears what has come, and may go on', async () => {
    const durable = kind === 'S3' ? 40 * MIB : 32 * MIB;
    const { path, sending } = await halfway(here, 40 * MIB, durable);
    const offset = await here.admin.offset(path);
    // The rest may be on its way still.
    expect(offset).toBeGreaterThanOrEqual(durable);
    expect(offset).toBeLessThanOrEqual(40 * MIB);
    expect((await sending.answer).headers['upload-offset']).toBe(String(offset));
    expect((await here.admin.finish(path, data)).status).toBe(204);
    await expectStored(here.app, path, data);
  });

  test('whoever has to let go of what was to be verified is told that, not that it was wrong', async () => {
    const path = await here.admin.create(data.length);
    const sum = { 'Upload-Checksum': `sha1 ${createHash('sha1').update(data).digest('base64')}` };
    const sending = here.admin.open(path, 0, data.length, sum);
    await sending.write(data.subarray(0, 10 * MIB));
    await eventually(async () => expect((await rowOf(here.app.database, path)).writer).toBeGreaterThan(0));
    expect(await here.admin.offset(path)).toBe(0);
    expect((await sending.answer).status).toBe(423);
    expect((await here.admin.patch(path, 0, data, sum)).status).toBe(204);
    await expectStored(here.app, path, data);
  });

  test('bytes that were refused are in no digest, also when another process takes others in their place', async () => {
    const [first, second] = [5 * MIB, 6 * MIB];
    const path = await here.admin.create(data.length);
    await here.admin.patch(path, 0, data.subarray(0, first));
    const sum = { 'Upload-Checksum': 'sha1 AAAAAAAAAAAAAAAAAAAAAAAAAAA=' };
    expect((await here.admin.patch(path, first, bytes(second - first, 3), sum)).status).toBe(460);
    expect((await there.admin.patch(path, first, data.subarray(first, second))).status).toBe(204);
    expect((await here.admin.patch(path, second, data.subarray(second))).status).toBe(204);
    expect([null, sha256(data)]).toContain((await rowOf(here.app.database, path)).sha256);
  });
});

describe('when the database', () => {
  let parted: PartedDatabase;
  let served: ServedApp;
  beforeAll(async () => {
    parted = await createPartedDatabase();
    served = await serveApp({ DATABASE_URL: through(parted) });
    served.app.database = parted.db.database;
  });
  afterAll(async () => {
    await served?.close();
    await parted?.close();
  });

  function through({ db, proxy }: { db: TestDatabase; proxy: { port: number } }): string {
    const url = new URL(db.url);
    url.host = `127.0.0.1:${proxy.port}`;
    return url.href;
  }

  test('breaks the connection on which the lock rests, the writer stops at once', async () => {
    const { path, sending } = await halfway(served, 40 * MIB, 32 * MIB);
    await sql`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE application_name = 'inlet locks' AND datname = current_database()`.execute(parted.db.database);
    const { status, body, headers } = await sending.answer;
    expect([status, body, headers['retry-after']]).toEqual([503, 'The database does not answer.', '5']);
    expect(await served.admin.offset(path)).toBe(32 * MIB);
    expect((await served.admin.finish(path, data)).status).toBe(204);
    await expectStored(served.app, path, data);
  });

  test('is away for a while, an upload ends with 503 and goes on afterwards', async () => {
    const { path, sending } = await halfway(served, 33 * MIB, 32 * MIB);
    await parted.proxy.part();
    expect(await sending.answer).toMatchObject({ status: 503, body: 'The database does not answer.' });
    const asked = await served.admin.head(path);
    expect([asked.status, asked.headers.get('Retry-After')]).toEqual([503, '5']);
    await parted.proxy.join();
    await eventually(async () => expect(await served.admin.offset(path)).toBe(32 * MIB));
    expect((await served.admin.finish(path, data)).status).toBe(204);
    await expectStored(served.app, path, data);
  });

  test('breaks a connection in the middle of a note, what was noted before counts', async () => {
    await sql`CREATE FUNCTION fault() RETURNS trigger LANGUAGE plpgsql AS
      'BEGIN PERFORM pg_terminate_backend(pg_backend_pid()); RETURN NULL; END'`.execute(parted.db.database);
    const path = await served.admin.create(data.length);
    await sql`CREATE TRIGGER fault AFTER UPDATE OF stored ON uploads
      FOR EACH ROW WHEN (NEW.stored > OLD.stored) EXECUTE FUNCTION fault()`.execute(parted.db.database);
    const answer = await served.admin.patch(path, 0, data);
    await sql`DROP FUNCTION fault() CASCADE`.execute(parted.db.database);
    expect([answer.status, await answer.text()]).toEqual([503, 'The database does not answer.']);
    expect(await served.admin.offset(path)).toBe(0);
    expect((await served.admin.finish(path, data)).status).toBe(204);
    await expectStored(served.app, path, data);
  });
});

describe('a client that', () => {
  let served: ServedApp;
  beforeAll(async () => {
    served = await serveApp({ UPLOAD_IDLE_SECONDS: '1' });
  });
  afterAll(() => served?.close());

  test('falls silent is given up, and what came counts', async () => {
    const { admin } = served;
    const path = await admin.create(data.length);
    const sending = admin.open(path, 0, data.length);
    await sending.write(data.subarray(0, 5 * MIB));
    expect(await sending.answer).toMatchObject({
      status: 408,
      body: 'Nothing was received for 1 seconds.',
    });
    expect(await admin.offset(path)).toBe(5 * MIB);
    expect((await admin.finish(path, data)).status).toBe(204);
    await expectStored(served.app, path, data);
  });

  test('goes away loses nothing of what came', async () => {
    const { admin } = served;
    const path = await admin.create(data.length);
    const sending = admin.open(path, 0, data.length);
    await sendSome(sending, data.subarray(0, 5 * MIB));
    sending.cut();
    await eventually(async () => expect(await admin.offset(path)).toBe(5 * MIB));
    expect((await admin.finish(path, data)).status).toBe(204);
    await expectStored(served.app, path, data);
  });

  test('sends nothing more to an upload that is complete is told so', async () => {
    const { admin } = served;
    const path = await admin.create(3);
    expect((await admin.patch(path, 0, bytes(3))).status).toBe(204);
    expect((await admin.patch(path, 3, bytes(0))).status).toBe(204);
    expect((await admin.patch(path, 3, bytes(1))).status).toBe(413);
  });

  test('gives all up leaves nothing', async () => {
    const { app, admin } = served;
    for (const { id } of await app.database.selectFrom('uploads').select('id').execute())
      await admin.fetch(`/uploads/${id}`, { method: 'DELETE' });
    await app.context.staging.sweep(FOR_AGES);
    await expectNothingLeftOver(app);
  });
});
