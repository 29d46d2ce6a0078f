import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import pg from 'pg';
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { backupCommand } from '../../src/cli/inlet/backup.ts';
import { verifyCommand } from '../../src/cli/inlet/verify.ts';
import { FolderStorage } from '../../src/storage/folder.ts';
import { objectKey } from '../../src/storage/keys.ts';
import { ownersOf } from '../../src/upkeep/owned-objects.ts';
import { keepForNow } from '../../src/upkeep/repair/keep.ts';
import { repair } from '../../src/upkeep/repair/repair.ts';
import { beAlone } from '../../src/upkeep/verify/alone.ts';
import type { Finding } from '../../src/upkeep/verify/finding.ts';
import { loadDefinitions } from '../../src/workflows/definitions.ts';
import { createTestApp, type TestApp } from '../support/app.ts';
import { created, post } from '../support/app-uploads.ts';
import { bytes, source } from '../support/bytes.ts';
import { recording } from '../support/clips.ts';
import { eventFields, field, file } from '../support/form.ts';
import { processEvent } from '../support/process-event.ts';
import { uploadOf } from '../support/tus.ts';
import { say } from '../support/upkeep.ts';
import { FOR_AGES } from '../support/watched.ts';

let app: TestApp;
beforeEach(async () => {
  app = await createTestApp();
});
afterEach(() => app.close());

const system = () => {
  const { databaseUrl, config } = app.context;
  return { databaseUrl, dataDir: config.dataDir, env: {} };
};
const verifyNow = (...args: string[]) => say(verifyCommand, system(), args);
async function backedUp(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'inlet-backup-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  expect(await say(backupCommand, system(), [folder])).toMatchObject({ code: 0 });
  return folder;
}
const upload = async (data: Buffer) =>
  created(await post(app, [...eventFields(), file('presenter', 'camera.mp4', data)]));
async function uploadResumably(data: Buffer): Promise<string> {
  const uploads = [{ id: await uploadOf(app, data), field: 'presenter' }];
  return created(await post(app, [...eventFields(), field('uploads', JSON.stringify(uploads))]));
}
const trackOf = async (event: string) =>
  (
    await app.database
      .selectFrom('tracks')
      .select('object_key')
      .where('event_id', '=', event)
      .executeTakeFirstOrThrow()
  ).object_key;
const mediaOf = async (event: string) =>
  (
    await app.database
      .selectFrom('publication_elements')
      .select('object_key')
      .where('event_id', '=', event)
      .where('kind', '=', 'media')
      .executeTakeFirstOrThrow()
  ).object_key;
const pathOf = (key: string) => app.storage.localPath(key) ?? '';
async function flip(key: string): Promise<void> {
  const data = await contentOf(key);
  data[500] = (data[500] ?? 0) ^ 1;
  await writeFile(pathOf(key), data);
}
const ledger = async () =>
  (await app.database.selectFrom('staging').select(['object_key', 'owner']).execute()).map(
    ({ object_key, owner }) => `${owner} ${object_key}`,
  );
const contentOf = async (key: string) => Buffer.concat(await Array.fromAsync(await app.storage.get(key)));
async function swap(one: string, other: string): Promise<void> {
  const aside = join(app.context.config.dataDir, 'aside');
  await rename(pathOf(one), aside);
  await rename(pathOf(other), pathOf(one));
  await rename(aside, pathOf(other));
}

test('recordings that are alike all get their objects back', async () => {
  const clip = await recording();
  const events = [await upload(clip), await upload(clip), await upload(clip)];
  for (const event of events) {
    const data = await contentOf(await trackOf(event));
    await app.storage.remove([await trackOf(event)]);
    await app.storage.put(objectKey('track'), source(data), { mediatype: 'video/mp4' });
  }
  const repaired = await verifyNow('--repair');
  expect(repaired.lines.filter((line) => !line.includes('\n  mended: it'))).toEqual([]);
  expect(repaired).toMatchObject({ code: 0, lines: { length: 6 } });
  expect(await verifyNow('--digests')).toEqual({ code: 0, lines: [] });
});

test('what stands in the place of something else is brought back to its row before that is made anew', async () => {
  const clip = await recording();
  const [processed, other] = [await upload(clip), await upload(Buffer.concat([clip, bytes(9)]))];
  await processEvent(app, processed);
  const recorded = await contentOf(await trackOf(other));
  const media = await contentOf(await mediaOf(processed));
  await swap(await trackOf(other), await mediaOf(processed));
  expect((await verifyNow('--repair', '--digests')).code).toBe(0);
  expect(await contentOf(await trackOf(other))).toEqual(recorded);
  expect(await contentOf(await mediaOf(processed))).toEqual(media);
  expect(await verifyNow('--digests')).toEqual({ code: 0, lines: [] });
});

test('the only copy of a recording is kept that was written over something that is made anew', async () => {
  const clip = await recording();
  const [processed, other] = [await upload(clip), await upload(Buffer.concat([clip, bytes(9)]))];
  await processEvent(app, processed);
  const recorded = await contentOf(await trackOf(other));
  await rename(pathOf(await trackOf(other)), pathOf(await mediaOf(processed)));
  const repaired = await verifyNow('--repair');
  expect(repaired.lines).toEqual([
    expect.stringMatching(/^missing .*\n {2}mended: /),
    expect.stringMatching(/^size .*\n {2}begun: /),
  ]);
  await processEvent(app, processed);
  expect(await contentOf(await trackOf(other))).toEqual(recorded);
  expect(await verifyNow('--digests')).toEqual({ code: 0, lines: [] });
});

test('a row that names the object of another one gets its own back, and the other keeps what it has', async () => {
  const event = await upload(await recording());
  await processEvent(app, event);
  const [track, media] = [await trackOf(event), await mediaOf(event)];
  const recorded = await contentOf(track);
  const name = (key: string) =>
    app.database.updateTable('tracks').set({ object_key: key }).where('event_id', '=', event).execute();
  await name(media);
  // What was recorded may be as large as what was made of it.
  expect((await verifyNow()).lines.sort()).toEqual([
    expect.stringMatching(`^(digest|size) ${media} event ${event} `),
    expect.stringMatching(`^orphaned ${track} `),
  ]);
  expect((await verifyNow('--repair')).code).toBe(0);
  expect(await contentOf(await trackOf(event))).toEqual(recorded);
  expect(await app.database.selectFrom('staging').selectAll().execute()).toEqual([]);
  expect(await verifyNow('--digests')).toEqual({ code: 0, lines: [] });
});

test('what is published in the place of a recording is made anew, and the recording stays', async () => {
  const event = await upload(await recording());
  await processEvent(app, event);
  const [track, media] = [await trackOf(event), await mediaOf(event)];
  const recorded = await contentOf(track);
  await rm(pathOf(media));
  await app.database
    .updateTable('publication_elements')
    .set({ object_key: track })
    .where('object_key', '=', media)
    .execute();
  expect((await verifyNow('--repair')).lines).toEqual([
    expect.stringMatching(`^(digest|size) ${track} event ${event}.*\\n {2}begun: `),
  ]);
  await processEvent(app, event);
  await app.context.staging.sweep(FOR_AGES);
  expect(await contentOf(await trackOf(event))).toEqual(recorded);
  expect(await verifyNow('--digests')).toEqual({ code: 0, lines: [] });
});

test('what is missing is copied from a recording that is the same', async () => {
  const clip = await recording();
  const events = [await upload(clip), await upload(clip), await upload(clip)];
  const [lost, other, whole] = (await Promise.all(events.map(trackOf))) as [string, string, string];
  await rm(pathOf(lost));
  await rm(pathOf(other));
  const repaired = await verifyNow('--repair');
  expect(repaired).toMatchObject({
    code: 0,
    lines: Array(2).fill(expect.stringContaining(`mended: its object was found under ${whole}`)),
  });
  expect(await verifyNow('--digests')).toEqual({ code: 0, lines: [] });
});

test('a row whose SHA-256 was changed gets back what the backup has', async () => {
  const event = await upload(await recording());
  const folder = await backedUp();
  await app.database
    .updateTable('tracks')
    .set({ sha256: 'a'.repeat(64) })
    .execute();
  expect((await verifyNow('--digests', '--repair')).code).toBe(1);
  const repaired = await verifyNow('--digests', '--repair', '--from', folder);
  expect(repaired).toMatchObject({
    code: 0,
    lines: [expect.stringContaining('mended: it is what it was in the backup')],
  });
  expect(await trackOf(event)).toMatch(/^track/);
  expect(await verifyNow('--digests')).toEqual({ code: 0, lines: [] });
});

test('a row whose key was changed gets its object from the backup, where only that has it', async () => {
  const event = await upload(await recording());
  const recorded = await contentOf(await trackOf(event));
  const folder = await backedUp();
  await rm(pathOf(await trackOf(event)));
  await app.database
    .updateTable('tracks')
    .set({ object_key: objectKey('track') })
    .execute();
  expect((await verifyNow('--repair')).code).toBe(1);
  expect((await verifyNow('--repair', '--from', folder)).code).toBe(0);
  expect(await contentOf(await trackOf(event))).toEqual(recorded);
});

test('what an earlier repair keeps is given back once it is known whose it is', async () => {
  const event = await upload(await recording());
  const key = await trackOf(event);
  const recorded = await contentOf(key);
  const other = objectKey('track');
  await app.storage.put(other, source(Buffer.alloc(recorded.length)), { mediatype: 'video/mp4' });
  await app.database.updateTable('tracks').set({ object_key: other }).execute();
  expect((await verifyNow('--repair')).lines).toEqual([expect.stringMatching(`^orphaned ${key} `)]);
  expect((await verifyNow('--digests', '--repair')).code).toBe(0);
  expect(await contentOf(await trackOf(event))).toEqual(recorded);
});

test('an orphan stays that may be what a row misses whose SHA-256 nobody knows', async () => {
  const event = await upload(await recording());
  const key = await trackOf(event);
  await app.database
    .updateTable('tracks')
    .set({ object_key: objectKey('track'), sha256: null })
    .execute();
  const repaired = await verifyNow('--repair');
  expect(repaired.lines).toContainEqual(expect.stringMatching(`^orphaned ${key} .*\n {2}left: a row misses`));
  expect(await app.database.selectFrom('staging').selectAll().execute()).toEqual([]);
});

test('two verifications do not write down what they find in the same place', async () => {
  const event = await upload(await recording());
  await rm(pathOf(await trackOf(event)));
  const other = new pg.Client(app.context.databaseUrl);
  await other.connect();
  expect(await beAlone(other)).toBe(true);
  await expect(verifyNow()).rejects.toThrow('Another verification is under way.');
  await other.end();
  expect(await verifyNow()).toMatchObject({ code: 1, lines: { length: 1 } });
});

test('nothing is made anew of an event that has lost the rows of its tracks', async () => {
  const event = await upload(await recording());
  await processEvent(app, event);
  const media = await mediaOf(event);
  await app.database.deleteFrom('tracks').where('event_id', '=', event).execute();
  await rm(pathOf(media));
  const repaired = await verifyNow('--repair');
  expect(repaired.lines.find((line) => line.startsWith(`missing ${media}`))).toMatch(/\n {2}left: /);
  expect(await app.database.selectFrom('workflows').select('id').execute()).toHaveLength(1);
});

test('a row that names no key is told of as missing its object', async () => {
  const event = await upload(await recording());
  const key = await trackOf(event);
  await app.database.updateTable('tracks').set({ object_key: '../elsewhere' }).execute();
  expect((await verifyNow('--digests')).lines.map((line) => line.split(' (')[0]).sort()).toEqual(
    [`missing ../elsewhere event ${event}`, `orphaned ${key}`].sort(),
  );
  expect((await verifyNow('--repair')).code).toBe(0);
  expect(await trackOf(event)).toBe(key);
});

test('a swap that was found before it was mended leaves the rows as they are', async () => {
  const clip = await recording();
  const events = [
    await upload(Buffer.concat([clip, Buffer.from('one')])),
    await upload(Buffer.concat([clip, Buffer.from('two')])),
  ];
  const keys = await Promise.all(events.map(trackOf));
  const look = new pg.Client(app.context.databaseUrl);
  await look.connect();
  const owners = await ownersOf(look, keys);
  const found = owners.map((owner, i): Finding => {
    const sha256 = owners[1 - i]?.sha256 ?? '';
    return { kind: 'digest', key: owner.key, owner, size: owner.size, sha256 };
  });
  const { database, storage } = app;
  const definitions = await loadDefinitions(undefined);
  async function* findings() {
    yield* found;
  }
  const parts = { database, look, storage, definitions, creator: 'admin', backup: undefined };
  for await (const { state } of repair({ findings }, parts)) expect(state).not.toBe('begun');
  await look.end();
  expect(await Promise.all(events.map(trackOf))).toEqual(keys);
  expect(await verifyNow('--digests')).toEqual({ code: 0, lines: [] });
});

test('the orphan of an event that was uploaded resumably is removed after its time', async () => {
  const event = await uploadResumably(await recording());
  const key = await trackOf(event);
  await app.database.deleteFrom('tracks').execute();
  expect((await verifyNow('--repair')).lines).toEqual([
    expect.stringMatching(`^orphaned ${key} .*\\n {2}mended: kept until `),
  ]);
  expect(await ledger()).toEqual([`repair ${key}`]);
  expect(await verifyNow()).toEqual({ code: 0, lines: [] });
});

test('what was damaged of an event that was uploaded resumably can be had until it is removed', async () => {
  const event = await uploadResumably(await recording());
  const key = await trackOf(event);
  const folder = await backedUp();
  await flip(key);
  expect((await verifyNow('--digests', '--repair', '--from', folder)).code).toBe(0);
  expect(await ledger()).toEqual([`repair ${key}`]);
  expect(await verifyNow('--digests')).toEqual({ code: 0, lines: [] });
});

test('what stood in the place of a resumable upload can be had until it is removed', async () => {
  const data = await recording();
  const event = await uploadResumably(data);
  const key = await trackOf(event);
  const other = objectKey('track');
  await app.storage.put(other, source(data), { mediatype: 'video/mp4' });
  await flip(key);
  expect((await verifyNow('--digests', '--repair')).code).toBe(0);
  expect(await trackOf(event)).toBe(other);
  expect(await ledger()).toEqual([`repair ${key}`]);
  expect(await verifyNow('--digests')).toEqual({ code: 0, lines: [] });
});

test('an upload under way keeps its object, and the ledger as it is', async () => {
  const id = await uploadOf(app, bytes(500), { until: 100, chunk: 100 });
  const { object_key: key } = await app.database
    .selectFrom('uploads')
    .select('object_key')
    .where('id', '=', id)
    .executeTakeFirstOrThrow();
  await app.database.deleteFrom('staging').execute();
  expect(await keepForNow(app.database, key)).toBeUndefined();
  expect(await ledger()).toEqual([]);
});

test('a recording that has lost its SHA-256 is told, and put right by a backup alone', async () => {
  const event = await upload(await recording());
  await processEvent(app, event);
  const key = await trackOf(event);
  const folder = await backedUp();
  await app.database.updateTable('tracks').set({ sha256: null }).execute();
  const lost = `^digest ${key} event ${event} .*the row has lost its SHA-256`;
  expect(await verifyNow('--digests')).toEqual({ code: 1, lines: [expect.stringMatching(lost)] });
  expect(await verifyNow('--digests', '--repair')).toEqual({
    code: 1,
    lines: [expect.stringMatching(`${lost}.*\\n {2}left: `)],
  });
  expect((await verifyNow('--digests', '--repair', '--from', folder)).code).toBe(0);
  expect(await trackOf(event)).toBe(key);
  expect(await verifyNow('--digests')).toEqual({ code: 0, lines: [] });
});

test('a damaged recording that has lost its SHA-256 gets both back from a backup', async () => {
  const event = await upload(await recording());
  await processEvent(app, event);
  const key = await trackOf(event);
  const recorded = await contentOf(key);
  const folder = await backedUp();
  await app.database.updateTable('tracks').set({ sha256: null }).execute();
  await flip(key);
  expect((await verifyNow('--digests', '--repair', '--from', folder)).code).toBe(0);
  expect(await contentOf(await trackOf(event))).toEqual(recorded);
  expect(await verifyNow('--digests')).toEqual({ code: 0, lines: [] });
  const { sha256 } = await app.database.selectFrom('tracks').select('sha256').executeTakeFirstOrThrow();
  expect(sha256).not.toBeNull();
});

test('a row whose key is none gets its object from the backup, where only that has it', async () => {
  const event = await upload(await recording());
  const key = await trackOf(event);
  const recorded = await contentOf(key);
  const folder = await backedUp();
  await rm(pathOf(key));
  await app.database.updateTable('tracks').set({ object_key: 'lecture (1).mp4' }).execute();
  expect((await verifyNow('--repair', '--from', folder)).code).toBe(0);
  expect(await contentOf(await trackOf(event))).toEqual(recorded);
  expect(await ledger()).toEqual([]);
});

test('what an earlier repair keeps is not removed while it is given back', async () => {
  const event = await upload(await recording());
  const key = await trackOf(event);
  const recorded = await contentOf(key);
  await app.database
    .updateTable('tracks')
    .set({ object_key: objectKey('track') })
    .execute();
  const expires_at = sql<Date>`now() - interval '1 second'`;
  await app.database.insertInto('staging').values({ object_key: key, owner: 'repair', expires_at }).execute();
  const get = FolderStorage.prototype.get;
  vi.spyOn(FolderStorage.prototype, 'get').mockImplementation(async function (this: FolderStorage, ...asked) {
    await app.context.staging.sweep(FOR_AGES);
    return get.apply(this, asked);
  });
  onTestFinished(() => void vi.restoreAllMocks());
  expect((await verifyNow('--repair')).code).toBe(0);
  expect(await contentOf(await trackOf(event))).toEqual(recorded);
});
