import { rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { verifyCommand } from '../../src/cli/inlet/verify.ts';
import { objectKey } from '../../src/storage/keys.ts';
import { ownersOf } from '../../src/upkeep/owned-objects.ts';
import { repair } from '../../src/upkeep/repair/repair.ts';
import { beAlone } from '../../src/upkeep/verify/alone.ts';
import type { Finding } from '../../src/upkeep/verify/finding.ts';
import { loadDefinitions } from '../../src/workflows/definitions.ts';
import { createTestApp, type TestApp } from '../support/app.ts';
import { created, post } from '../support/app-uploads.ts';
import { bytes, source } from '../support/bytes.ts';
import { recording } from '../support/clips.ts';
import { eventFields, file } from '../support/form.ts';
import { processEvent } from '../support/process-event.ts';
import { say } from '../support/upkeep.ts';

let app: TestApp;
beforeEach(async () => {
  app = await createTestApp();
});
afterEach(() => app.close());

const verifyNow = (...args: string[]) => {
  const { databaseUrl, config } = app.context;
  return say(verifyCommand, { databaseUrl, dataDir: config.dataDir, env: {} }, args);
};
const upload = async (data: Buffer) =>
  created(await post(app, [...eventFields(), file('presenter', 'camera.mp4', data)]));
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
