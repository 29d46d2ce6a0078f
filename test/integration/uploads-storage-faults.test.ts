import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { S3Storage } from '../../src/storage/s3.ts';
import { createS3Clients } from '../../src/storage/s3-client.ts';
import { bytes } from '../support/bytes.ts';
import { eventually } from '../support/eventually.ts';
import { expectNothingLeftOver } from '../support/leftovers.ts';
import { expectStored, rowOf } from '../support/resumable.ts';
import { startS3, type TestS3 } from '../support/s3.ts';
import { type Fate, type S3Between, type S3Request, startS3Between } from '../support/s3-between.ts';
import { type ServedApp, serveApp } from '../support/serve-uploads.ts';
import { FOR_AGES } from '../support/watched.ts';

const MIB = 2 ** 20;
/** Of what the product asks for. */
const PART = 5 * MIB;
const NOT_STORED = 'The recording could not be stored. Try again later.';
const ATTEMPTS = 3;

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
  const { app, admin } = served;
  for (const { id } of await app.database.selectFrom('uploads').select('id').execute())
    await admin.fetch(`/uploads/${id}`, { method: 'DELETE' });
  await expectNothingLeft();
});
afterAll(async () => {
  await served?.close();
  await between?.stop();
  await s3?.stop();
});

async function expectNothingLeft(): Promise<void> {
  const { app } = served;
  await app.context.staging.sweep(FOR_AGES);
  // What was removed may have been stored since: it is removed once more.
  await app.database
    .updateTable('staging')
    .set({ expires_at: new Date(0) })
    .execute();
  await app.context.staging.sweep(FOR_AGES);
  await expectNothingLeftOver(app);
  expect(await app.database.selectFrom('staging').selectAll().execute()).toEqual([]);
}

/** Lets so many requests of a kind pass, and something happen to those after them. */
function destine(
  passing: number,
  kind: S3Request,
  fate: Fate,
  most = Number.POSITIVE_INFINITY,
): () => number {
  let seen = 0;
  between.fate = (each) => {
    if (each !== kind) return 'pass';
    seen += 1;
    return seen > passing && seen <= passing + most ? fate : 'pass';
  };
  return () => seen;
}

const told = async (answer: Response) => [answer.status, await answer.text()];

describe('a part that the storage refuses', () => {
  test('and then takes is nobody’s concern', async () => {
    const data = bytes(20 * MIB);
    const path = await served.admin.create(data.length);
    const seen = destine(1, 'part', { status: 500, code: 'InternalError' }, ATTEMPTS - 1);
    expect((await served.admin.patch(path, 0, data)).status).toBe(204);
    expect(seen()).toBe(data.length / PART + ATTEMPTS - 1);
    await expectStored(served.app, path, data);
  });

  test.each([
    [403, 'AccessDenied'],
    [507, 'InsufficientStorage'],
    [500, 'InternalError'],
  ])('for good (%i) is 503; what came before counts, and it goes on', async (status, code) => {
    const data = bytes(60 * MIB);
    const path = await served.admin.create(data.length);
    expect((await served.admin.patch(path, 0, data.subarray(0, 2 * PART))).status).toBe(204);
    destine(0, 'part', { status, code });
    const answer = await served.admin.patch(path, 2 * PART, data.subarray(2 * PART));
    expect(answer.headers.get('Retry-After')).toBe('30');
    expect(await told(answer)).toEqual([503, NOT_STORED]);
    expect(await served.admin.offset(path)).toBe(2 * PART);
    between.fate = () => 'pass';
    expect((await served.admin.finish(path, data)).status).toBe(204);
    await expectStored(served.app, path, data);
  });
});

test('an upload that the storage does not begin is 503', async () => {
  destine(0, 'create', { status: 403, code: 'AccessDenied' });
  await expect(served.admin.create(MIB)).rejects.toThrow(`503: ${NOT_STORED}`);
});

test('an upload that was begun twice because an answer was lost leaves no second one', async () => {
  const seen = destine(0, 'create', 'lose', 1);
  const data = bytes(10 * MIB);
  const path = await served.admin.create(data.length);
  expect(seen()).toBe(2);
  expect((await served.admin.patch(path, 0, data)).status).toBe(204);
  expect(await Array.fromAsync(served.app.storage.unfinished())).toEqual([]);
  await expectStored(served.app, path, data);
});

test('an upload that the storage begins after it was given up does not stay', async () => {
  destine(0, 'create', 'cut');
  await expect(served.admin.create(MIB)).rejects.toThrow(`503: ${NOT_STORED}`);
  await served.app.context.staging.sweep(FOR_AGES);
  for (const perform of between.cut.splice(0)) expect(await perform()).toBe(200);
  expect(await Array.fromAsync(served.app.storage.unfinished())).toHaveLength(ATTEMPTS);
});

describe('the completion', () => {
  test('whose answer is lost is found to be done', async () => {
    const seen = destine(0, 'complete', 'lose', 1);
    const data = bytes(10 * MIB);
    const path = await served.admin.create(data.length);
    expect((await served.admin.patch(path, 0, data)).status).toBe(204);
    expect(seen()).toBe(2);
    await expectStored(served.app, path, data);
  });

  test.each([
    ['in parts', 2 * PART],
    ['with something left over', 2 * PART + 5],
  ])('that was done without anybody knowing, %s, is found by whoever goes on', async (_, length) => {
    const data = bytes(length);
    const path = await served.admin.create(data.length);
    let lost = 0;
    between.fate = (kind) => {
      if (kind === 'complete' && lost++ === 0) return 'lose';
      return lost > 0 ? { status: 403, code: 'AccessDenied' } : 'pass';
    };
    expect(await told(await served.admin.patch(path, 0, data))).toEqual([503, NOT_STORED]);
    between.fate = () => 'pass';
    // A client that hears that all is there sends nothing more.
    const offset = await served.admin.offset(path);
    expect(offset).toBe(2 * PART);
    if (offset < length)
      expect((await served.admin.patch(path, offset, data.subarray(offset))).status).toBe(204);
    await expectStored(served.app, path, data);
  });

  test('that the storage refuses is asked for again, also by whoever only looks', async () => {
    const data = bytes(2 * PART);
    const path = await served.admin.create(data.length);
    destine(0, 'complete', { status: 403, code: 'AccessDenied' });
    expect(await told(await served.admin.patch(path, 0, data))).toEqual([503, NOT_STORED]);
    expect((await served.admin.head(path)).status).toBe(503);
    between.fate = () => 'pass';
    expect(await served.admin.offset(path)).toBe(data.length);
    await expectStored(served.app, path, data);
  });
});

describe('a storage that falls silent', () => {
  /** From some request on, until the product has given up. */
  const silentFrom = (kind: S3Request) => {
    let silent = false;
    between.fate = (each) => {
      silent ||= each === kind;
      return silent ? 'silence' : 'pass';
    };
  };

  test('while an upload begins is 503', async () => {
    silentFrom('create');
    await expect(served.admin.create(MIB)).rejects.toThrow(`503: ${NOT_STORED}`);
  });

  test.each(['part', 'complete', 'put'] as const)('at a %s is 503, and the upload goes on', async (kind) => {
    const data = bytes(2 * PART + 5);
    const path = await served.admin.create(kind === 'put' ? data.length + 1 : data.length);
    silentFrom(kind);
    expect(await told(await served.admin.patch(path, 0, data))).toEqual([503, NOT_STORED]);
    between.fate = () => 'pass';
    const offset = await served.admin.offset(path);
    expect(offset).toBe(kind === 'part' ? 0 : 2 * PART);
    const whole = kind === 'put' ? Buffer.concat([data, bytes(1)]) : data;
    expect((await served.admin.finish(path, whole)).status).toBe(204);
    await expectStored(served.app, path, whole);
  });
});

test('what is left over, stored late after it was given up, does not stay', async () => {
  destine(0, 'put', 'cut', 1);
  const path = await served.admin.create(10 * MIB);
  expect((await served.admin.patch(path, 0, bytes(MIB))).status).toBe(204);
  expect((await served.admin.patch(path, MIB, bytes(9 * MIB))).status).toBe(204);
  await served.app.context.staging.sweep(FOR_AGES);
  expect(await Array.fromAsync(served.app.storage.list('rest'))).toEqual([]);
  for (const perform of between.cut.splice(0)) expect(await perform()).toBe(200);
  expect(await Array.fromAsync(served.app.storage.list('rest'))).toHaveLength(1);
});

test('an upload whose parts the storage has thrown away is gone', async () => {
  const data = bytes(3 * PART);
  const path = await served.admin.create(data.length);
  await served.admin.patch(path, 0, data.subarray(0, PART));
  const { object_key } = await rowOf(served.app.database, path);
  await served.app.storage.remove([object_key]);
  const answer = await served.admin.patch(path, PART, data.subarray(PART));
  expect(await told(answer)).toEqual([410, 'The upload has been given up.']);
  expect((await served.admin.head(path)).status).toBe(404);
});
