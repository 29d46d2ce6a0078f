import { rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { sql } from 'kysely';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { verifyCommand } from '#cli/inlet/verify.ts';
import { ownersOf } from '#maintenance/owned-objects.ts';
import { keepForNow } from '#maintenance/repair/keep.ts';
import { repair } from '#maintenance/repair/repair.ts';
import { beAlone } from '#maintenance/verify/alone.ts';
import type { Finding } from '#maintenance/verify/finding.ts';
import { FolderStorage } from '#platform/storage/folder.ts';
import { objectKey } from '#platform/storage/keys.ts';
import { loadDefinitions } from '#processing/definitions.ts';
import { created, post } from '../support/app-uploads.ts';
import { bytes } from '../support/bytes.ts';
import { recording } from '../support/clips.ts';
import { eventFields, field } from '../support/form.ts';
import { processEvent } from '../support/process-event.ts';
import { uploadOf } from '../support/tus.ts';
import { openUpkeep, SOUND, type Upkeep } from '../support/upkeep.ts';
import { FOR_AGES } from '../support/watched.ts';

let up: Upkeep;
beforeEach(async () => {
  up = await openUpkeep();
});

const workflows = () => up.app.database.selectFrom('workflows').select('id').execute();
const isSound = async () => expect(await up.verify('--digests')).toEqual(SOUND);
const codeOf = async (...args: string[]) => (await up.verify(...args)).code;
/** A recording that has been processed, and its content. */
async function processed() {
  const clip = await recording();
  const event = await up.upload(clip);
  await processEvent(up.app, event);
  return { clip, event, track: await up.trackOf(event), media: await up.elementOf(event) };
}
async function uploaded(data = bytes(1000)) {
  const event = await up.upload(data);
  return { event, data, key: await up.trackOf(event) };
}
async function uploadedResumably(data = bytes(1000)) {
  const uploads = [{ id: await uploadOf(up.app, data), field: 'presenter' }];
  const event = await created(
    await post(up.app, [...eventFields(), field('uploads', JSON.stringify(uploads))]),
  );
  return { event, data, key: await up.trackOf(event) };
}
const recorded = async (event: string) => up.contentOf(await up.trackOf(event));

describe('objects in another place', () => {
  test('recordings that are alike all get their objects back', async () => {
    const events = [await up.upload(), await up.upload(), await up.upload()];
    for (const event of events) {
      await rename(up.pathOf(await up.trackOf(event)), join(up.system.dataDir, 'aside'));
      await up.put(objectKey('track'), bytes(1000));
    }
    const repaired = await up.verify('--repair');
    expect(repaired.lines.filter((line) => !line.includes('\n  mended: it'))).toEqual([]);
    expect(repaired).toMatchObject({ code: 0, lines: { length: 6 } });
    await isSound();
  });

  test('what stands in the place of something else is brought back to its row before that is made anew', async () => {
    const { clip, media } = await processed();
    const other = await uploaded(Buffer.concat([clip, bytes(9)]));
    const published = await up.contentOf(media);
    const aside = join(up.system.dataDir, 'aside');
    await rename(up.pathOf(other.key), aside);
    await rename(up.pathOf(media), up.pathOf(other.key));
    await rename(aside, up.pathOf(media));
    expect(await codeOf('--repair', '--digests')).toBe(0);
    expect(await recorded(other.event)).toEqual(other.data);
    const [row] = await up.app.database
      .selectFrom('publication_elements')
      .select('object_key')
      .where('kind', '=', 'media')
      .execute();
    expect(await up.contentOf(row?.object_key ?? '')).toEqual(published);
    await isSound();
  });

  test('the only copy of a recording is kept that was written over something that is made anew', async () => {
    const { clip, event, media } = await processed();
    const other = await uploaded(Buffer.concat([clip, bytes(9)]));
    await rename(up.pathOf(other.key), up.pathOf(media));
    expect((await up.verify('--repair')).lines).toEqual([
      expect.stringMatching(/^missing .*\n {2}mended: /),
      expect.stringMatching(/^size .*\n {2}begun: /),
    ]);
    await processEvent(up.app, event);
    expect(await recorded(other.event)).toEqual(other.data);
    await isSound();
  });

  test('a row that names the object of another one gets its own back, and the other keeps what it has', async () => {
    const { clip, event, track, media } = await processed();
    await up.setTracks({ object_key: media }, event);
    // A recording may be as large as what was made of it.
    expect((await up.verify()).lines.sort()).toEqual([
      expect.stringMatching(`^(digest|size) ${media} event ${event} `),
      expect.stringMatching(`^orphaned ${track} `),
    ]);
    expect(await codeOf('--repair')).toBe(0);
    expect(await recorded(event)).toEqual(clip);
    expect(await up.ledger()).toEqual([]);
    await isSound();
  });

  test('what is published in the place of a recording is made anew, and the recording stays', async () => {
    const { clip, event, track, media } = await processed();
    await rm(up.pathOf(media));
    const elements = up.app.database.updateTable('publication_elements').set({ object_key: track });
    await elements.where('object_key', '=', media).execute();
    expect((await up.verify('--repair')).lines).toEqual([
      expect.stringMatching(`^(digest|size) ${track} event ${event}.*\\n {2}begun: `),
    ]);
    await processEvent(up.app, event);
    await up.app.context.staging.sweep(FOR_AGES);
    expect(await recorded(event)).toEqual(clip);
    await isSound();
  });

  test('what is missing is copied from a recording that is the same', async () => {
    const [lost, other, whole] = [await uploaded(), await uploaded(), await uploaded()];
    for (const { key } of [lost, other]) await rm(up.pathOf(key));
    expect(await up.verify('--repair')).toEqual({
      code: 0,
      lines: Array(2).fill(expect.stringContaining(`mended: its object was found under ${whole.key}`)),
    });
    await isSound();
  });

  test('what an earlier repair keeps is given back once it is known whose it is', async () => {
    const { event, key, data } = await uploaded();
    const other = objectKey('track');
    await up.put(other, Buffer.alloc(data.length));
    await up.setTracks({ object_key: other });
    expect((await up.verify('--repair')).lines).toEqual([expect.stringMatching(`^orphaned ${key} `)]);
    expect(await codeOf('--digests', '--repair')).toBe(0);
    expect(await recorded(event)).toEqual(data);
  });

  test('what an earlier repair keeps is not removed while it is given back', async () => {
    const { event, key, data } = await uploaded();
    await up.setTracks({ object_key: objectKey('track') });
    const expires_at = sql<Date>`now() - interval '1 second'`;
    const entry = { object_key: key, owner: 'repair', expires_at };
    await up.app.database.insertInto('staging').values(entry).execute();
    const { get } = FolderStorage.prototype;
    vi.spyOn(FolderStorage.prototype, 'get').mockImplementation(async function (
      this: FolderStorage,
      ...asked
    ) {
      await up.app.context.staging.sweep(FOR_AGES);
      return get.apply(this, asked);
    });
    expect(await codeOf('--repair')).toBe(0);
    expect(await recorded(event)).toEqual(data);
  });

  test('an orphan stays that may be what a row misses whose SHA-256 nobody knows', async () => {
    const { key } = await uploaded();
    await up.setTracks({ object_key: objectKey('track'), sha256: null });
    const left = expect.stringMatching(`^orphaned ${key} .*\\n {2}left: a row misses`);
    expect((await up.verify('--repair')).lines).toContainEqual(left);
    expect(await up.ledger()).toEqual([]);
  });

  test('a row that names no key counts as missing its object, and gets it back', async () => {
    const { event, key } = await uploaded();
    await up.setTracks({ object_key: '../elsewhere' });
    const { lines } = await up.verify('--digests');
    expect(lines.map((line) => line.split(' (')[0]).sort()).toEqual(
      [`missing ../elsewhere event ${event}`, `orphaned ${key}`].sort(),
    );
    expect(await codeOf('--repair')).toBe(0);
    expect(await up.trackOf(event)).toBe(key);
  });

  test('a swap that was found before it was mended leaves the rows as they are', async () => {
    const keys = [(await uploaded()).key, (await uploaded(bytes(1000, 2))).key];
    const look = await up.connect();
    const owners = await ownersOf(look, keys);
    const found = owners.map((owner, i): Finding => {
      const sha256 = owners[1 - i]?.sha256 ?? '';
      return { kind: 'digest', key: owner.key, owner, size: owner.size, sha256 };
    });
    const { database, storage } = up.app;
    const definitions = await loadDefinitions(undefined);
    async function* findings() {
      yield* found;
    }
    const parts = { database, look, storage, definitions, creator: 'admin', backup: undefined };
    for await (const { state } of repair({ findings }, parts)) expect(state).not.toBe('begun');
    const tracks = await database.selectFrom('tracks').select('object_key').execute();
    expect(tracks.map(({ object_key }) => object_key).sort()).toEqual(keys.sort());
    await isSound();
  });
});

describe('a backup', () => {
  test('gives back the SHA-256 of a row that was changed', async () => {
    const { event, key } = await uploaded();
    const folder = await up.backUp();
    await up.setTracks({ sha256: 'a'.repeat(64) });
    expect(await codeOf('--digests', '--repair')).toBe(1);
    expect(await up.verify('--digests', '--repair', '--from', folder)).toEqual({
      code: 0,
      lines: [expect.stringContaining('mended: it is what it was in the backup')],
    });
    expect(await up.trackOf(event)).toBe(key);
    await isSound();
  });

  test.each([
    ['was changed', objectKey('track')],
    ['is none', 'lecture (1).mp4'],
  ])('gives back the object of a row whose key %s, where only that has it', async (_, object_key) => {
    const { event, key, data } = await uploaded();
    const folder = await up.backUp();
    await rm(up.pathOf(key));
    await up.setTracks({ object_key });
    expect(await codeOf('--repair')).toBe(1);
    expect(await codeOf('--repair', '--from', folder)).toBe(0);
    expect(await recorded(event)).toEqual(data);
    expect(await up.ledger()).toEqual([]);
  });

  test('alone puts a recording right that has lost its SHA-256', async () => {
    const { event, track } = await processed();
    const folder = await up.backUp();
    await up.setTracks({ sha256: null });
    const lost = `^digest ${track} event ${event} .*the row has lost its SHA-256`;
    expect(await up.verify('--digests')).toEqual({ code: 1, lines: [expect.stringMatching(lost)] });
    const left = expect.stringMatching(`${lost}.*\\n {2}left: `);
    expect(await up.verify('--digests', '--repair')).toEqual({ code: 1, lines: [left] });
    expect(await codeOf('--digests', '--repair', '--from', folder)).toBe(0);
    expect(await up.trackOf(event)).toBe(track);
    await isSound();
  });

  test('gives a damaged recording that has lost its SHA-256 both back', async () => {
    const { clip, event, track } = await processed();
    const folder = await up.backUp();
    await up.setTracks({ sha256: null });
    await up.flip(track);
    expect(await codeOf('--digests', '--repair', '--from', folder)).toBe(0);
    expect(await recorded(event)).toEqual(clip);
    await isSound();
    const { sha256 } = await up.app.database.selectFrom('tracks').select('sha256').executeTakeFirstOrThrow();
    expect(sha256).not.toBeNull();
  });

  test('leaves what was damaged of a resumable upload until its time', async () => {
    const { key } = await uploadedResumably();
    const folder = await up.backUp();
    await up.flip(key);
    expect(await codeOf('--digests', '--repair', '--from', folder)).toBe(0);
    expect(await up.ledger()).toEqual([`repair ${key}`]);
    await isSound();
  });
});

describe('resumable uploads', () => {
  test('the orphan of one is removed after its time', async () => {
    const { key } = await uploadedResumably();
    await up.app.database.deleteFrom('tracks').execute();
    expect((await up.verify('--repair')).lines).toEqual([
      expect.stringMatching(`^orphaned ${key} .*\\n {2}mended: kept until `),
    ]);
    expect(await up.ledger()).toEqual([`repair ${key}`]);
    expect(await up.verify()).toEqual(SOUND);
  });

  test('what stood in the place of one can be had until it is removed', async () => {
    const { event, key, data } = await uploadedResumably();
    const other = objectKey('track');
    await up.put(other, data);
    await up.flip(key);
    expect(await codeOf('--digests', '--repair')).toBe(0);
    expect(await up.trackOf(event)).toBe(other);
    expect(await up.ledger()).toEqual([`repair ${key}`]);
    await isSound();
  });

  test('one under way keeps its object, and the ledger as it is', async () => {
    const id = await uploadOf(up.app, bytes(500), { until: 100, chunk: 100 });
    const { database } = up.app;
    const uploads = database.selectFrom('uploads').select('object_key').where('id', '=', id);
    const { object_key } = await uploads.executeTakeFirstOrThrow();
    await database.deleteFrom('staging').execute();
    expect(await keepForNow(database, object_key)).toBeUndefined();
    expect(await up.ledger()).toEqual([]);
  });
});

test('two verifications do not write down what they find in the same place', async () => {
  await rm(up.pathOf((await uploaded()).key));
  const other = await up.connect();
  expect(await beAlone(other)).toBe(true);
  await expect(up.run(verifyCommand)).rejects.toThrow('Another verification is under way.');
  await other.end();
  await expect.poll(() => up.verify()).toMatchObject({ code: 1, lines: { length: 1 } });
});

test('nothing is made anew of an event that has lost the rows of its tracks', async () => {
  const { event, media } = await processed();
  await up.app.database.deleteFrom('tracks').where('event_id', '=', event).execute();
  await rm(up.pathOf(media));
  const { lines } = await up.verify('--repair');
  expect(lines.find((line) => line.startsWith(`missing ${media}`))).toMatch(/\n {2}left: /);
  expect(await workflows()).toHaveLength(1);
});
