import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import type { Database } from '../../src/database/kysely.ts';
import { expireUploads } from '../../src/ingest/uploads/expire.ts';
import { startReconciler } from '../../workers/reconciler.ts';
import { bytes, readAll, sha256 } from '../support/bytes.ts';
import { databaseForThisFile } from '../support/database.ts';
import { eventually } from '../support/eventually.ts';
import { eventFields, field, form } from '../support/form.ts';
import { expectNothingLeftOver } from '../support/leftovers.ts';
import { rowOf } from '../support/resumable.ts';
import { startS3, type TestS3 } from '../support/s3.ts';
import { type ServedApp, serveApp } from '../support/serve-uploads.ts';
import { FOR_AGES } from '../support/watched.ts';

const MIB = 2 ** 20;

/** As if so much time had passed since the last byte of every upload. */
async function timePasses(database: Database, hours: number): Promise<void> {
  const back = sql<Date>`expires_at - make_interval(secs => ${hours * 3600})`;
  await database.updateTable('uploads').set({ expires_at: back }).execute();
  const entries = database.updateTable('staging').set({ expires_at: back });
  await entries.where('owner', 'like', 'upload %').execute();
}

describe.each(['folder', 'S3'])('an upload on %s', (kind) => {
  let s3: TestS3 | undefined;
  let served: ServedApp;
  beforeAll(async () => {
    if (kind === 'S3') s3 = await startS3();
    Object.assign(process.env, s3?.env);
    served = await serveApp({ UPLOAD_EXPIRY_HOURS: '3', ...s3?.env });
  });
  afterAll(async () => {
    await served?.close();
    await s3?.stop();
  });

  test('of which nothing comes for long is gone, and so is every byte of it', async () => {
    const { app, admin } = served;
    const data = bytes(19 * MIB);
    const begun = await admin.create(data.length);
    const half = await admin.create(data.length);
    await admin.patch(half, 0, data.subarray(0, 9 * MIB));
    expect((await rowOf(app.database, half)).rest_bytes).toBe(kind === 'S3' ? 4 * MIB : 0);
    const whole = await admin.create(data.length);
    expect((await admin.patch(whole, 0, data)).status).toBe(204);
    await timePasses(app.database, 2);
    expect(await expireUploads(app.database)).toBe(0);
    await timePasses(app.database, 2);
    for (const path of [begun, half, whole]) {
      expect((await admin.head(path)).status).toBe(404);
      expect((await admin.patch(path, 0, data)).status).toBe(404);
    }
    expect(await expireUploads(app.database)).toBe(3);
    await app.context.staging.sweep(FOR_AGES);
    await expectNothingLeftOver(app);
    expect(await app.database.selectFrom('upload_pieces').selectAll().execute()).toEqual([]);
  });

  test('lives on with every byte that comes', async () => {
    const { app, admin } = served;
    const data = bytes(3 * MIB);
    const path = await admin.create(data.length);
    for (let from = 0; from < data.length; from += MIB) {
      await timePasses(app.database, 2);
      expect((await admin.patch(path, from, data.subarray(from, from + MIB))).status).toBe(204);
    }
    await timePasses(app.database, 2);
    expect(await expireUploads(app.database)).toBe(0);
    expect(await app.context.staging.sweep(FOR_AGES)).toBe(kind === 'S3' ? 2 : 0);
    const { object_key, sha256: found } = await rowOf(app.database, path);
    expect(sha256(await readAll(await app.storage.get(object_key)))).toBe(sha256(data));
    expect(found).toBe(sha256(data));
    await admin.fetch(path, { method: 'DELETE' });
    await app.context.staging.sweep(FOR_AGES);
    await expectNothingLeftOver(app);
  });

  test('lives on as soon as somebody begins to send more', async () => {
    const { app, admin } = served;
    const data = bytes(3 * MIB);
    const path = await admin.create(data.length);
    await timePasses(app.database, 2.5);
    const sending = admin.open(path, 0, data.length);
    await sending.write(data.subarray(0, MIB));
    await eventually(async () =>
      expect((await rowOf(app.database, path)).expires_at.getTime()).toBeGreaterThan(
        Date.now() + 2.9 * 3_600_000,
      ),
    );
    expect(await expireUploads(app.database)).toBe(0);
    await sending.write(data.subarray(MIB));
    sending.end();
    expect((await sending.answer).status).toBe(204);
    await admin.fetch(path, { method: 'DELETE' });
    await app.context.staging.sweep(FOR_AGES);
    await expectNothingLeftOver(app);
  });

  test('that an event has is forgotten, and the event keeps what it has', async () => {
    const { app, admin } = served;
    const data = bytes(MIB);
    const path = await admin.create(data.length);
    await admin.patch(path, 0, data);
    const uploads = JSON.stringify([{ id: path.split('/').at(-1), field: 'presenter' }]);
    const { type, body } = form([...eventFields(), field('uploads', uploads)]);
    const made = await app.request('/api/events', {
      method: 'POST',
      headers: { 'Content-Type': type },
      body,
    });
    expect(made.status).toBe(201);
    await timePasses(app.database, 4);
    expect(await expireUploads(app.database)).toBe(1);
    await app.context.staging.sweep(FOR_AGES);
    await expectNothingLeftOver(app);
    const { object_key } = await app.database
      .selectFrom('tracks')
      .select('object_key')
      .executeTakeFirstOrThrow();
    expect(sha256(await readAll(await app.storage.get(object_key)))).toBe(sha256(data));
  });

  test('is forgotten and swept by workers by themselves', async () => {
    const { app, admin } = served;
    const path = await admin.create(10 * MIB);
    await admin.patch(path, 0, bytes(9 * MIB));
    await timePasses(app.database, 4);
    const { database, context } = app;
    const reconciler = startReconciler({
      database,
      watch: context.watch,
      staging: context.staging,
      storage: context.storage,
      workDir: join(context.config.dataDir, 'work'),
      changesDays: 14,
      recordingGraceMs: 0,
      direct: context,
      log: context.log,
    });
    await eventually(async () =>
      expect(await database.selectFrom('uploads').select('id').execute()).toEqual([]),
    );
    await expectNothingLeftOver(app);
    await reconciler.close();
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
        const { rows } = await sql<{
          table: string;
          whole: number;
        }>`SELECT relname AS table, seq_scan AS whole
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
