import { createHash } from 'node:crypto';
import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { expireUploads } from '#ingest/tus/tus-uploads.ts';
import type { Database } from '#platform/database/kysely.ts';
import { Locks } from '#platform/database/locks.ts';
import { silentLogger } from '#platform/telemetry/log.ts';
import { uploadedBytes } from '#platform/telemetry/metrics.ts';
import type { TestApp } from './app.ts';
import { bytes, sha256 } from './bytes.ts';
import { createTestDatabase } from './database.ts';
import { sendForm } from './event-writes.ts';
import { eventually } from './eventually.ts';
import { eventFields, field } from './form.ts';
import { expectNothingLeftOver } from './leftovers.ts';
import type { OpenUpload } from './open-upload.ts';
import { reconcileUntil } from './reconciling.ts';
import { expectStored, rowOf } from './resumable.ts';
import { startS3, type TestS3 } from './s3.ts';
import { type ServedApp, serveApp } from './serve-uploads.ts';
import { FOR_AGES } from './watched.ts';

const MIB = 2 ** 20;
export const SMALL = bytes(6 * MIB);

/** Sends bytes, and waits until all of them have come to a server of this process, durable or not. */
export async function sendSome(sending: OpenUpload, some: Uint8Array): Promise<void> {
  const received = async () => (await uploadedBytes.get()).values[0]?.value ?? 0;
  const before = await received();
  await sending.write(some);
  await eventually(async () => expect((await received()) - before).toBeGreaterThanOrEqual(some.length));
}

/** Begins an upload and sends some of it, of which so much is durable when this resolves. */
export async function halfway({ admin, app }: ServedApp, data: Buffer, sent: number, durable: number) {
  const path = await admin.create(data.length);
  const sending = admin.open(path, 0, data.length);
  await sendSome(sending, data.subarray(0, sent));
  await eventually(async () => expect((await rowOf(app.database, path)).stored).toBe(durable));
  return { path, sending };
}

/** Sends what is missing of an upload, and expects that it is all there then. */
export async function expectFinished({ admin, app }: ServedApp, path: string, data: Buffer) {
  expect((await admin.finish(path, data)).status).toBe(204);
  return expectStored(app, path, data);
}

/** As if so much time had passed since the last byte of every upload. */
async function timePasses(database: Database, hours: number): Promise<void> {
  const back = sql<Date>`expires_at - make_interval(secs => ${hours * 3600})`;
  await database.updateTable('uploads').set({ expires_at: back }).execute();
  const entries = database.updateTable('staging').set({ expires_at: back });
  await entries.where('owner', 'like', 'upload %').execute();
}

async function expectSwept(app: TestApp): Promise<void> {
  await app.context.staging.sweep(FOR_AGES);
  await expectNothingLeftOver(app);
  expect(await app.database.selectFrom('upload_pieces').selectAll().execute()).toEqual([]);
}

/** Gives all uploads up. */
export async function discardAll({ app, admin }: ServedApp): Promise<void> {
  for (const { id } of await app.database.selectFrom('uploads').select('id').execute())
    await admin.fetch(`/uploads/${id}`, { method: 'DELETE' });
  await app.context.staging.sweep(FOR_AGES);
}

/**
 * Describes uploads on one kind of storage that several processes write, and that expire.
 *
 * @param data what clients send; a folder makes something of it durable from 32 MiB on
 */
export function describeUploads(
  kind: 'folder' | 'S3',
  data: Buffer,
  more: (here: () => ServedApp) => void = () => undefined,
): void {
  const onS3 = kind === 'S3';
  const piece = (onS3 ? 5 : 32) * MIB;
  const sent = data.length - MIB;
  const durable = Math.floor(sent / piece) * piece;
  let s3: TestS3 | undefined;
  let here: ServedApp;
  let there: ServedApp;
  beforeAll(async () => {
    if (onS3) s3 = await startS3();
    Object.assign(process.env, s3?.env);
    here = await serveApp({ UPLOAD_EXPIRY_HOURS: '3', ...s3?.env });
    there = await serveApp(besides());
  });
  beforeEach(() => discardAll(here));
  afterAll(async () => {
    await there?.close();
    await here?.app.context.staging.sweep(FOR_AGES);
    await here?.close();
    await s3?.stop();
  });

  /** The environment of a process beside the first one. */
  const besides = () => ({
    ...s3?.env,
    DATABASE_URL: here.app.context.databaseUrl,
    DATA_DIR: here.app.context.config.dataDir,
  });

  describe(`several processes write on ${kind}:`, () => {
    test('another one takes an upload over whose client has fallen silent, with all that came', async () => {
      const { path, sending } = await halfway(here, data, sent, durable);
      expect(await there.admin.offset(path)).toBe(sent);
      const { status, headers } = await sending.answer;
      expect([status, headers['upload-offset'], headers.connection]).toEqual([204, String(sent), 'close']);
      expect((await there.admin.patch(path, sent, data.subarray(sent))).status).toBe(204);
      const row = await expectStored(here.app, path, data);
      // No process has seen all of its bytes.
      expect(row.sha256).toBeNull();
    });

    test('one that does not know that it has lost an upload changes nothing any more', async () => {
      const elsewhere = await createTestDatabase();
      const locks = new Locks(elsewhere.url, silentLogger);
      const unaware = await serveApp(besides(), undefined, { locks });
      onTestFinished(async () => {
        await unaware.close();
        await locks.close();
        await elsewhere.close();
      });
      const { path, sending } = await halfway({ ...here, admin: unaware.admin }, data, sent, durable);
      expect(await here.admin.offset(path)).toBe(durable);
      await expectFinished(here, path, data);
      await sending.write(data.subarray(sent));
      sending.end();
      expect(await sending.answer).toMatchObject({
        status: 423,
        body: 'Another request is writing to the upload. Try again.',
      });
      await expectStored(here.app, path, data);
    });

    test('of two that write at the same time one does, and what it wrote is there', async () => {
      const path = await here.admin.create(SMALL.length);
      const both = [SMALL, bytes(SMALL.length, 2)] as const;
      const answers = await Promise.all([here.admin.patch(path, 0, both[0]), there.admin.patch(path, 0, both[1])]);
      const wrote = answers.map(({ headers }) => Number(headers.get('Upload-Offset')) > 0);
      expect([...wrote].sort()).toEqual([false, true]);
      const winner = wrote.indexOf(true);
      expect([204, 409, 423]).toContain(answers[1 - winner]?.status);
      await expectFinished(here, path, both[winner] as Buffer);
    });

    test('a question how far an upload is that is being sent is answered, and it may be continued', async () => {
      const { path, sending } = await halfway(here, SMALL, 5 * MIB, onS3 ? 5 * MIB : 0);
      const offset = await here.admin.offset(path);
      // The rest may be on its way still.
      expect(offset).toBeGreaterThanOrEqual(onS3 ? 5 * MIB : 0);
      expect(offset).toBeLessThanOrEqual(5 * MIB);
      expect((await sending.answer).headers['upload-offset']).toBe(String(offset));
      await expectFinished(here, path, SMALL);
    });

    test('bytes that were to be verified are given up with 423, not as wrong ones', async () => {
      const path = await here.admin.create(SMALL.length);
      const sum = { 'Upload-Checksum': `sha1 ${createHash('sha1').update(SMALL).digest('base64')}` };
      const sending = here.admin.open(path, 0, SMALL.length, sum);
      await sending.write(SMALL.subarray(0, MIB));
      await eventually(async () => expect((await rowOf(here.app.database, path)).writer).toBeGreaterThan(0));
      expect(await here.admin.offset(path)).toBe(0);
      expect((await sending.answer).status).toBe(423);
      expect((await here.admin.patch(path, 0, SMALL, sum)).status).toBe(204);
      await expectStored(here.app, path, SMALL);
    });

    test('refused bytes are in no digest, also when another process takes others in their place', async () => {
      const [first, second] = [5 * MIB, 5.5 * MIB];
      const path = await here.admin.create(SMALL.length);
      await here.admin.patch(path, 0, SMALL.subarray(0, first));
      const sum = { 'Upload-Checksum': 'sha1 AAAAAAAAAAAAAAAAAAAAAAAAAAA=' };
      expect((await here.admin.patch(path, first, bytes(second - first, 3), sum)).status).toBe(460);
      expect((await there.admin.patch(path, first, SMALL.subarray(first, second))).status).toBe(204);
      expect((await here.admin.patch(path, second, SMALL.subarray(second))).status).toBe(204);
      expect([null, sha256(SMALL)]).toContain((await rowOf(here.app.database, path)).sha256);
    });
  });

  describe(`an upload on ${kind}`, () => {
    test('of which nothing comes for long is gone, and so is every byte of it', async () => {
      const { app, admin } = here;
      const begun = await admin.create(SMALL.length);
      const half = await admin.create(SMALL.length);
      await admin.patch(half, 0, SMALL.subarray(0, 5.5 * MIB));
      expect((await rowOf(app.database, half)).rest_bytes).toBe(onS3 ? MIB / 2 : 0);
      const whole = await admin.create(SMALL.length);
      expect((await admin.patch(whole, 0, SMALL)).status).toBe(204);
      await timePasses(app.database, 2);
      expect(await expireUploads(app.database)).toBe(0);
      await timePasses(app.database, 2);
      for (const path of [begun, half, whole]) {
        expect((await admin.head(path)).status).toBe(404);
        expect((await admin.patch(path, 0, SMALL)).status).toBe(404);
      }
      expect(await expireUploads(app.database)).toBe(3);
      await expectSwept(app);
    });

    test('lives on with every byte that comes', async () => {
      const { app, admin } = here;
      const data = SMALL.subarray(0, 3 * MIB);
      const path = await admin.create(data.length);
      for (let from = 0; from < data.length; from += MIB) {
        await timePasses(app.database, 2);
        expect((await admin.patch(path, from, data.subarray(from, from + MIB))).status).toBe(204);
      }
      await timePasses(app.database, 2);
      expect(await expireUploads(app.database)).toBe(0);
      expect(await app.context.staging.sweep(FOR_AGES)).toBe(onS3 ? 2 : 0);
      expect((await expectStored(app, path, data)).sha256).toBe(sha256(data));
    });

    test('lives on as soon as more bytes begin to come', async () => {
      const { app, admin } = here;
      const data = SMALL.subarray(0, 3 * MIB);
      const path = await admin.create(data.length);
      await timePasses(app.database, 2.5);
      const sending = admin.open(path, 0, data.length);
      await sending.write(data.subarray(0, MIB));
      const inTime = Date.now() + 2.9 * 3_600_000;
      await eventually(async () =>
        expect((await rowOf(app.database, path)).expires_at.getTime()).toBeGreaterThan(inTime),
      );
      expect(await expireUploads(app.database)).toBe(0);
      await sending.write(data.subarray(MIB));
      sending.end();
      expect((await sending.answer).status).toBe(204);
    });

    test('that an event has is forgotten, and the event keeps what it has', async () => {
      const { app, admin } = here;
      const path = await admin.create(MIB);
      await admin.patch(path, 0, SMALL.subarray(0, MIB));
      const { object_key } = await rowOf(app.database, path);
      const uploads = JSON.stringify([{ id: path.split('/').at(-1), field: 'presenter' }]);
      const made = await sendForm(app, '/api/events', [...eventFields(), field('uploads', uploads)]);
      expect(made.status).toBe(201);
      await timePasses(app.database, 4);
      expect(await expireUploads(app.database)).toBe(1);
      await expectSwept(app);
      expect(await app.storage.size(object_key)).toBe(MIB);
    });

    test('is forgotten and swept by workers', async () => {
      const { app, admin } = here;
      const path = await admin.create(SMALL.length);
      await admin.patch(path, 0, SMALL.subarray(0, 5.5 * MIB));
      await timePasses(app.database, 4);
      await reconcileUntil(app, async () => {
        expect(await app.database.selectFrom('uploads').select('id').execute()).toEqual([]);
        await expectNothingLeftOver(app);
      });
    });
  });

  more(() => here);
}
