import { rm } from 'node:fs/promises';
import { beforeEach, describe, expect, test } from 'vitest';
import { verifyCommand } from '#cli/inlet/verify.ts';
import { keepOrphan } from '#maintenance/repair/repair.ts';
import { lockNotes } from '#maintenance/verify/notes.ts';
import { objectKey } from '#platform/storage/object-keys.ts';
import { created, post } from '../support/app-uploads.ts';
import { bytes } from '../support/bytes.ts';
import { recording } from '../support/clips.ts';
import { eventFields, field } from '../support/form.ts';
import { processEvent } from '../support/process-event.ts';
import { uploadOf } from '../support/tus.ts';
import { openUpkeep, SOUND, type Upkeep } from '../support/upkeep.ts';

const DAY_MS = 86_400_000;

let up: Upkeep;
beforeEach(async () => {
  up = await openUpkeep();
});

const isSound = async () => expect(await up.verify('--digests')).toEqual(SOUND);
const codeOf = async (...args: string[]) => (await up.verify(...args)).code;
/** A recording that has been processed, and its content. */
async function processed() {
  const clip = await recording();
  const event = await up.upload(clip);
  await processEvent(up.app, event);
  // The last publication has replaced the catalog of the early one.
  await up.app.context.staging.sweep(undefined);
  return { clip, event, track: await up.trackOf(event), media: await up.elementOf(event) };
}
async function uploaded(data = bytes(1000)) {
  const event = await up.upload(data);
  return { event, data, key: await up.trackOf(event) };
}
async function uploadedResumably(data = bytes(1000)) {
  const uploads = [{ id: await uploadOf(up.app, data), field: 'presenter' }];
  const event = await created(await post(up.app, [...eventFields(), field('uploads', JSON.stringify(uploads))]));
  return { event, data, key: await up.trackOf(event) };
}
const byKey = (a: string, b: string) => (keyIn(a) < keyIn(b) ? -1 : 1);
const keyIn = (line: string) => line.split(' ')[1] ?? '';
const recorded = async (event: string) => up.contentOf(await up.trackOf(event));
const rows = () => up.app.database.selectFrom('tracks').select(['id', 'object_key', 'size', 'sha256']).execute();

describe('an orphan', () => {
  test('is kept for seven days, even if a row lacks an object with the same bytes', async () => {
    const { event, key } = await uploaded();
    await up.setTracks({ object_key: objectKey('track') });
    const before = await rows();
    const { code, lines } = await up.verify('--repair');
    expect([code, lines.sort()]).toEqual([
      1,
      [
        expect.stringMatching(`^missing .* event ${event} .*\\n {2}left: restore it from a backup`),
        expect.stringMatching(`^orphaned ${key} .*\\n {2}repaired: kept until `),
      ],
    ]);
    expect(await rows()).toEqual(before);
    const entry = await up.app.database.selectFrom('staging').selectAll().executeTakeFirstOrThrow();
    expect(entry).toMatchObject({ object_key: key, owner: 'repair' });
    expect(entry.expires_at.getTime()).toBeGreaterThan(Date.now() + 6.9 * DAY_MS);
    expect(entry.expires_at.getTime()).toBeLessThan(Date.now() + 7.1 * DAY_MS);
  });

  test('of a resumable upload is kept like any other, and is not reported again', async () => {
    const { key } = await uploadedResumably();
    await up.app.database.deleteFrom('tracks').execute();
    expect((await up.verify('--repair')).lines).toEqual([
      expect.stringMatching(`^orphaned ${key} .*\\n {2}repaired: kept until `),
    ]);
    expect(await up.ledger()).toEqual([`repair ${key}`]);
    expect(await up.verify()).toEqual(SOUND);
  });

  test('is not what an upload under way has stored, whatever the ledger says', async () => {
    const id = await uploadOf(up.app, bytes(500), { until: 100, chunk: 100 });
    const { database } = up.app;
    const uploads = database.selectFrom('uploads').select('object_key').where('id', '=', id);
    const { object_key } = await uploads.executeTakeFirstOrThrow();
    await database.deleteFrom('staging').execute();
    expect(await keepOrphan(database, object_key)).toBeUndefined();
    expect(await up.ledger()).toEqual([]);
  });
});

describe('a backup', () => {
  test.each([
    ['was changed', objectKey('track')],
    ['is none', 'lecture (1).mp4'],
  ])('gives back the object of a row whose key %s', async (_, object_key) => {
    const { event, key, data } = await uploaded();
    const folder = await up.backUp();
    await rm(up.pathOf(key));
    await up.setTracks({ object_key });
    expect(await codeOf('--repair')).toBe(1);
    expect(await codeOf('--repair', '--from', folder)).toBe(0);
    expect(await recorded(event)).toEqual(data);
    expect(await up.ledger()).toEqual([]);
  });

  test('gives a row its own object that names the one of another row, which keeps it', async () => {
    const { clip, event, track, media } = await processed();
    const folder = await up.backUp();
    await up.setTracks({ object_key: media }, event);
    // A recording may be as large as what was made of it.
    expect((await up.verify()).lines.sort(byKey)).toEqual([
      expect.stringMatching(`^(digest|size) ${media} event ${event} `),
      expect.stringMatching(`^orphaned ${track} `),
    ]);
    expect(await codeOf('--repair', '--from', folder)).toBe(0);
    expect(await recorded(event)).toEqual(clip);
    expect(await up.elementOf(event)).toBe(media);
    expect(await up.ledger()).toEqual([`repair ${track}`]);
    await isSound();
  });

  test('gives back what a workflow made, which is only reported without one', async () => {
    const { event, media } = await processed();
    const folder = await up.backUp();
    const published = await up.contentOf(media);
    await rm(up.pathOf(media));
    expect(await up.verify('--repair')).toEqual({
      code: 1,
      lines: [expect.stringMatching(`^missing ${media} event ${event} .*\\n {2}left: run its workflow again`)],
    });
    expect(await up.app.database.selectFrom('workflows').select('id').execute()).toHaveLength(1);
    expect(await codeOf('--repair', '--from', folder)).toBe(0);
    expect(await up.contentOf(await up.elementOf(event))).toEqual(published);
    await isSound();
  });

  test.each([
    ['size', { size: 5 }],
    ['SHA-256', { sha256: 'a'.repeat(64) }],
  ])('changes nothing of a row whose %s is not that of any object', async (_, wrong) => {
    await uploaded();
    const folder = await up.backUp();
    await up.setTracks(wrong);
    const before = await rows();
    expect(await up.verify('--digests', '--repair', '--from', folder)).toEqual({
      code: 1,
      lines: [expect.stringMatching('\n {2}left: the backup does not have ')],
    });
    expect(await rows()).toEqual(before);
  });

  test.each([
    ['is whole', false],
    ['is damaged', true],
  ])('gives a recording that %s its lost SHA-256 back', async (_, isDamaged) => {
    const { clip, event, track } = await processed();
    const folder = await up.backUp();
    await up.setTracks({ sha256: null });
    if (isDamaged) await up.flip(track);
    const lost = `^digest ${track} event ${event} .*the row has lost its SHA-256`;
    expect(await up.verify('--digests')).toEqual({ code: 1, lines: [expect.stringMatching(lost)] });
    const left = expect.stringMatching(`${lost}.*\\n {2}left: a backup has its SHA-256`);
    expect(await up.verify('--digests', '--repair')).toEqual({ code: 1, lines: [left] });
    expect(await codeOf('--digests', '--repair', '--from', folder)).toBe(0);
    expect(await recorded(event)).toEqual(clip);
    expect((await rows())[0]?.sha256).not.toBeNull();
    expect(await up.ledger()).toEqual([`repair ${track}`]);
    await isSound();
  });

  test('without its SHA-256 either does not replace an object that can be read', async () => {
    const { event, track } = await processed();
    await up.setTracks({ sha256: null });
    const folder = await up.backUp();
    expect(await codeOf('--digests', '--repair', '--from', folder)).toBe(1);
    expect(await up.trackOf(event)).toBe(track);
  });

  test('replaces a damaged resumable upload, whose bytes are kept for seven days', async () => {
    const { key } = await uploadedResumably();
    const folder = await up.backUp();
    await up.flip(key);
    expect(await codeOf('--digests', '--repair', '--from', folder)).toBe(0);
    expect(await up.ledger()).toEqual([`repair ${key}`]);
    await isSound();
  });
});

test('two verifications do not write down what they find in the same place', async () => {
  await rm(up.pathOf((await uploaded()).key));
  const other = await up.connect();
  expect(await lockNotes(other)).toBe(true);
  await expect(up.run(verifyCommand)).rejects.toThrow('Another verification is running.');
  await other.end();
  await expect.poll(() => up.verify()).toMatchObject({ code: 1, lines: { length: 1 } });
});
