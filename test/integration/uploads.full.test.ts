import { setTimeout as pause } from 'node:timers/promises';
import { sql } from 'kysely';
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { createApp } from '#app/app.ts';
import { createContext } from '#app/context.ts';
import { expireUploads } from '#ingest/tus/tus-uploads.ts';
import { S3Storage } from '#platform/storage/s3.ts';
import { createS3Clients } from '#platform/storage/s3-client.ts';
import { silentLogger } from '#platform/telemetry/log.ts';
import { ADMIN, type TestApp, workerApp } from '../support/app.ts';
import { created, post } from '../support/app-uploads.ts';
import { bytes, sha256 } from '../support/bytes.ts';
import { recording } from '../support/clips.ts';
import { databaseForThisFile } from '../support/database.ts';
import { eventually } from '../support/eventually.ts';
import { eventFields, field } from '../support/form.ts';
import { expectNothingLeftOver } from '../support/leftovers.ts';
import { createPartedDatabase, type PartedDatabase } from '../support/parted-database.ts';
import { processEvent } from '../support/process-event.ts';
import { expectStored, rowOf } from '../support/resumable.ts';
import { startS3, type TestS3 } from '../support/s3.ts';
import { type Fate, type S3Between, type S3Request, startS3Between } from '../support/s3-between.ts';
import { type ServedApp, serveApp } from '../support/serve-uploads.ts';
import { append, begin, uploadOf } from '../support/tus.ts';
import { describeUploads, discardAll, expectFinished, halfway } from '../support/upload-suite.ts';
import { FOR_AGES } from '../support/watched.ts';

const MIB = 2 ** 20;

/** More than a folder makes durable in one piece. */
const LARGE = bytes(34 * MIB);

describe('S3', () => describeUploads('S3', LARGE));

describe('object storage that fails:', () => {
  /** Of what the product asks for. */
  const PART = 5 * MIB;
  const NOT_STORED = 'The recording could not be stored. Try again later.';
  const ATTEMPTS = 3;
  const DENIED = { status: 403, code: 'AccessDenied' };

  let s3: TestS3;
  let between: S3Between;
  let served: ServedApp;
  beforeAll(async () => {
    s3 = await startS3();
    between = await startS3Between(s3.env.AWS_ENDPOINT_URL_S3 ?? '');
    Object.assign(process.env, s3.env, { AWS_ENDPOINT_URL_S3: between.url });
    const storage = new S3Storage({
      ...createS3Clients({ forcePathStyle: true }),
      bucket: s3.env.S3_BUCKET ?? '',
      // Soon silent, but not when it is only slow.
      limits: { patienceMs: 300, answerMs: 5_000, idleMs: 20_000 },
    });
    await eventually(() => storage.check());
    served = await serveApp({}, () => storage);
    served.app.storage = storage;
  });
  afterEach(async () => {
    between.fate = () => 'pass';
    const { app } = served;
    await discardAll(served);
    // What was removed may have been stored since: it is removed once more.
    await app.database
      .updateTable('staging')
      .set({ expires_at: new Date(0) })
      .execute();
    await app.context.staging.sweep(FOR_AGES);
    await expectNothingLeftOver(app);
    expect(await app.database.selectFrom('staging').selectAll().execute()).toEqual([]);
  });
  afterAll(async () => {
    await served?.close();
    await between?.stop();
    await s3?.stop();
  });

  /** Lets so many requests of a kind pass, and something happen to those after them. */
  function destine(passing: number, kind: S3Request, fate: Fate, most = Number.POSITIVE_INFINITY) {
    let seen = 0;
    between.fate = (each) => {
      if (each !== kind) return 'pass';
      seen += 1;
      return seen > passing && seen <= passing + most ? fate : 'pass';
    };
    return () => seen;
  }

  async function expectSent(path: string, offset: number, data: Uint8Array): Promise<void> {
    expect((await served.admin.patch(path, offset, data)).status).toBe(204);
  }

  /** Sends bytes that the storage does not take, and lets it work again. */
  async function expectNotStored(path: string, offset: number, data: Uint8Array): Promise<void> {
    const answer = await served.admin.patch(path, offset, data);
    expect([answer.status, await answer.text()]).toEqual([503, NOT_STORED]);
    expect(answer.headers.get('Retry-After')).toBe('30');
  }

  const unfinished = () => Array.fromAsync(served.app.storage.unfinished());
  /** Lets the storage do what it was asked for before the connections were cut. */
  async function performLate(): Promise<void> {
    await served.app.context.staging.sweep(FOR_AGES);
    for (const perform of between.cut.splice(0)) expect(await perform()).toBe(200);
  }

  test.each([
    [403, 'AccessDenied'],
    [507, 'InsufficientStorage'],
    [500, 'InternalError'],
  ])('a part that it refuses for good (%i) is 503; what came before counts, and it goes on', async (status, code) => {
    const data = bytes(30 * MIB);
    const path = await served.admin.create(data.length);
    await expectSent(path, 0, data.subarray(0, 2 * PART));
    destine(0, 'part', { status, code });
    await expectNotStored(path, 2 * PART, data.subarray(2 * PART));
    expect(await served.admin.offset(path)).toBe(2 * PART);
    between.fate = () => 'pass';
    await expectFinished(served, path, data);
  });

  test('an upload that it does not begin is 503', async () => {
    destine(0, 'create', DENIED);
    await expect(served.admin.create(MIB)).rejects.toThrow(`503: ${NOT_STORED}`);
  });

  test('an upload that it begins after it was given up does not stay', async () => {
    destine(0, 'create', 'cut');
    await expect(served.admin.create(MIB)).rejects.toThrow(`503: ${NOT_STORED}`);
    await performLate();
    expect(await unfinished()).toHaveLength(ATTEMPTS);
  });

  test('what is left over, stored late after it was given up, does not stay', async () => {
    destine(0, 'put', 'cut', 1);
    const path = await served.admin.create(10 * MIB);
    await expectSent(path, 0, bytes(MIB));
    await expectSent(path, MIB, bytes(9 * MIB));
    const rests = () => Array.fromAsync(served.app.storage.list('rest'));
    await served.app.context.staging.sweep(FOR_AGES);
    expect(await rests()).toEqual([]);
    await performLate();
    expect(await rests()).toHaveLength(1);
  });

  test.each([
    ['in parts', 2 * PART],
    ['with something left over', 2 * PART + 5],
  ])('a completion that was done without an answer, %s, is found by the next request', async (_, length) => {
    const data = bytes(length);
    const path = await served.admin.create(data.length);
    let lost = 0;
    between.fate = (kind) => {
      if (kind === 'complete' && lost++ === 0) return 'lose';
      return lost > 0 ? DENIED : 'pass';
    };
    await expectNotStored(path, 0, data);
    between.fate = () => 'pass';
    // A client that hears that all is there sends nothing more.
    const offset = await served.admin.offset(path);
    expect(offset).toBe(2 * PART);
    if (offset < length) await expectSent(path, offset, data.subarray(offset));
    await expectStored(served.app, path, data);
  });

  test('a completion that it refuses is asked for again, also by HEAD', async () => {
    const data = bytes(2 * PART);
    const path = await served.admin.create(data.length);
    destine(0, 'complete', DENIED);
    await expectNotStored(path, 0, data);
    expect((await served.admin.head(path)).status).toBe(503);
    between.fate = () => 'pass';
    expect(await served.admin.offset(path)).toBe(data.length);
    await expectStored(served.app, path, data);
  });

  test.each(['create', 'part', 'complete', 'put'] as const)('silence from a %s on is 503', async (kind) => {
    const data = bytes(2 * PART + 5);
    const length = kind === 'put' ? data.length + 1 : data.length;
    const path = kind === 'create' ? '' : await served.admin.create(length);
    let silent = false;
    between.fate = (each) => {
      silent ||= each === kind;
      return silent ? 'silence' : 'pass';
    };
    if (kind === 'create') return expect(served.admin.create(MIB)).rejects.toThrow(`503: ${NOT_STORED}`);
    await expectNotStored(path, 0, data);
    between.fate = () => 'pass';
    expect(await served.admin.offset(path)).toBe(kind === 'part' ? 0 : 2 * PART);
    await expectFinished(served, path, kind === 'put' ? Buffer.concat([data, bytes(1)]) : data);
  });

  test('an upload whose parts it has thrown away is gone', async () => {
    const data = bytes(3 * PART);
    const path = await served.admin.create(data.length);
    await served.admin.patch(path, 0, data.subarray(0, PART));
    const { object_key } = await rowOf(served.app.database, path);
    await served.app.storage.remove([object_key]);
    const answer = await served.admin.patch(path, PART, data.subarray(PART));
    expect([answer.status, await answer.text()]).toEqual([410, 'The upload no longer exists.']);
    expect((await served.admin.head(path)).status).toBe(404);
  });
});

describe('when the database', () => {
  let parted: PartedDatabase;
  let served: ServedApp;
  beforeAll(async () => {
    parted = await createPartedDatabase();
    const url = new URL(parted.db.url);
    url.host = `127.0.0.1:${parted.proxy.port}`;
    served = await serveApp({ DATABASE_URL: url.href });
    served.app.database = parted.db.database;
  });
  afterAll(async () => {
    await served?.close();
    await parted?.close();
  });

  test('is away for a while, an upload ends with 503 and continues afterwards', async () => {
    const { path, sending } = await halfway(served, LARGE, 33 * MIB, 32 * MIB);
    await parted.proxy.part();
    expect(await sending.answer).toMatchObject({ status: 503, body: 'The database does not answer.' });
    const asked = await served.admin.head(path);
    expect([asked.status, asked.headers.get('Retry-After')]).toEqual([503, '5']);
    await parted.proxy.join();
    await eventually(async () => expect(await served.admin.offset(path)).toBe(32 * MIB));
    await expectFinished(served, path, LARGE);
  });

  test('breaks a connection in the middle of a note, what was noted before counts', async () => {
    const path = await served.admin.create(LARGE.length);
    await sql`CREATE FUNCTION fault() RETURNS trigger LANGUAGE plpgsql AS
      'BEGIN PERFORM pg_terminate_backend(pg_backend_pid()); RETURN NULL; END'`.execute(parted.db.database);
    await sql`CREATE TRIGGER fault AFTER UPDATE OF stored ON uploads
      FOR EACH ROW WHEN (NEW.stored > OLD.stored) EXECUTE FUNCTION fault()`.execute(parted.db.database);
    const answer = await served.admin.patch(path, 0, LARGE);
    await sql`DROP FUNCTION fault() CASCADE`.execute(parted.db.database);
    expect([answer.status, await answer.text()]).toEqual([503, 'The database does not answer.']);
    expect(await served.admin.offset(path)).toBe(0);
    await expectFinished(served, path, LARGE);
  });
});

test('an upload that comes so slowly that nothing is durable for long lives on', async () => {
  const lifetimeMs = 6_000;
  const { app, admin, close } = await serveApp({}, undefined, { lifetimeMs });
  onTestFinished(close);
  const data = bytes(100_000);
  const path = await admin.create(data.length);
  const sending = admin.open(path, 0, data.length);
  const begun = performance.now();
  let at = 0;
  for (; performance.now() - begun < 1.3 * lifetimeMs; at += 1000) {
    await sending.write(data.subarray(at, at + 1000));
    await pause(200);
    expect(await expireUploads(app.database)).toBe(0);
    await app.context.staging.sweep(FOR_AGES);
  }
  await sending.write(data.subarray(at));
  sending.end();
  expect((await sending.answer).status).toBe(204);
});

test('an event of uploads ends SUCCEEDED, its checksum known at once or found by inspection', async () => {
  const app = await workerApp();
  const clip = await recording({ seconds: 2 });
  // Half of the second one comes to another process, so that none knows its digest.
  const [known, unknown] = [await uploadOf(app, clip), await begin(app, clip.length)];
  const half = Math.floor(clip.length / 2);
  expect((await append(app, unknown, 0, clip.subarray(0, half))).status).toBe(204);
  const context = await createContext(app.context.config, 'api', { log: silentLogger });
  const other = createApp(context);
  const there: TestApp = { ...app, request: async (path, init) => other.request(path, init) };
  const sent = await append(there, unknown, half, clip.subarray(half), { Authorization: ADMIN });
  await context.close();
  expect(sent.status).toBe(204);

  const uploads = [known, unknown].map((id) => ({ id, field: 'presenter' }));
  const parts = [...eventFields(), field('uploads', JSON.stringify(uploads))];
  const id = await created(await post(app, parts));
  const media = async () => {
    const answer = await app.request(`/api/events/${id}/media`);
    return (await answer.json()) as { identifier: string; checksum?: string }[];
  };
  const checksum = `${sha256(clip)} (sha256)`;
  const before = await media();
  expect(before.map((track) => track.checksum)).toEqual([checksum, undefined]);
  const path = `/api/events/${id}/media/${before[1]?.identifier}`;
  const download = await app.request(path);
  expect(download.headers.get('ETag')).toMatch(/^"[^"]+"$/);
  expect(sha256(Buffer.from(await download.arrayBuffer()))).toBe(sha256(clip));

  await processEvent(app, id);
  expect(await (await app.request(`/api/events/${id}?withpublications=true`)).json()).toMatchObject({
    processing_state: 'SUCCEEDED',
    publication_status: ['engage-player'],
  });
  expect((await media()).map((track) => track.checksum)).toEqual([checksum, checksum]);
  expect((await app.request(path)).headers.get('ETag')).toContain(sha256(clip));
});

describe('many uploads that have expired', () => {
  const db = databaseForThisFile();
  const MANY = 20_000;

  test('go a few at a time, found by an index', async () => {
    const { database } = db;
    await sql`
      INSERT INTO uploads (id, owner, filename, object_key, handle, expires_at)
      SELECT 'upload-' || lpad(i::text, 16, '0'), 'ada', 'a.mp4', 'track/' || i, '',
        now() + (i - 1000.5) * interval '1 hour'
      FROM generate_series(1, ${MANY}::int) AS i`.execute(database);
    await sql`INSERT INTO upload_pieces SELECT id, 1, '' FROM uploads`.execute(database);
    await sql`VACUUM ANALYZE uploads, upload_pieces`.execute(database);
    await database.transaction().execute(async (trx) => {
      const reads = async () => {
        const { rows } = await sql`SELECT relname AS table, seq_scan AS whole
          FROM pg_stat_xact_user_tables WHERE relname IN ('uploads', 'upload_pieces')`.execute(trx);
        return rows;
      };
      const before = await reads();
      expect(await expireUploads(trx, 300)).toBe(1000);
      expect(await reads()).toEqual(before);
    });
    const left = await database.selectFrom('upload_pieces').select('upload_id').execute();
    expect(left).toHaveLength(MANY - 1000);
  });
});
