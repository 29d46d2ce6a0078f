import { mkdir, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { CreateMultipartUploadCommand, PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { sql } from 'kysely';
import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { backupCommand } from '#cli/inlet/backup.ts';
import { verifyCommand } from '#cli/inlet/verify.ts';
import { sweepUnfinished } from '#maintenance/sweep-unfinished.ts';
import type { Finding } from '#maintenance/verify/finding.ts';
import { Notes } from '#maintenance/verify/notes.ts';
import { verify } from '#maintenance/verify/verify.ts';
import { FolderStorage } from '#platform/storage/folder.ts';
import { objectKey } from '#platform/storage/object-keys.ts';
import type { ListOptions, ObjectStorage } from '#platform/storage/object-storage.ts';
import { bytes } from '../support/bytes.ts';
import { recording } from '../support/clips.ts';
import { processEvent } from '../support/process-event.ts';
import { startS3, type TestS3 } from '../support/s3.ts';
import { openUpkeep, SOUND, say, type Upkeep, VIDEO } from '../support/upkeep.ts';

const UNFINISHED = { ...VIDEO, expectedBytes: 100 };
const words = (lines: string[], count: number) => lines.map((line) => line.split(' ', count)[count - 1]).sort();
/** Lines without what is in brackets, and what was done. */
const plain = (lines: string[]) => lines.map((line) => line.split(' (', 1)[0]).sort();

let up: Upkeep;
const notesOf = () => new Notes(join(up.system.dataDir, 'verify.jsonl'));
/** Notes of a verification that has looked at everything, and found this. */
async function noted(finding: Finding): Promise<void> {
  const notes = notesOf();
  await notes.begin({ digests: false });
  await notes.add([finding]);
  await notes.reach({ through: 'zz/ff', objects: 0, bytes: 0 });
}
const stage = (keys: string[], owner: string | null = null) =>
  up.app.database
    .insertInto('staging')
    .values(keys.map((key) => ({ object_key: key, owner, expires_at: sql<Date>`now() + interval '1 hour'` })))
    .execute();
/** What `verify` needs, with another way to list objects. */
async function partsWith(list: ObjectStorage['list']) {
  const { storage } = up.app;
  const but = new Proxy(storage, {
    get: (target, name) => (name === 'list' ? list : Reflect.get(target, name).bind(target)),
  });
  return { rows: await up.connect(), look: await up.connect(), storage: but };
}

describe.each(['folder', 'S3'])('with objects in a %s', (kind) => {
  let s3: TestS3 | undefined;
  beforeEach(async () => {
    s3 = kind === 'S3' ? await startS3() : undefined;
    onTestFinished(async () => s3?.stop());
    up = await openUpkeep(s3?.env);
  });

  test('every kind of damage is told with key and event, repaired from a backup, and nothing is lost', async () => {
    const { storage, database } = up.app;
    const clip = await recording();
    const processed = await up.upload(clip);
    await processEvent(up.app, processed);
    expect(await up.verify('--digests')).toEqual(SOUND);
    const [media, poster] = [await up.elementOf(processed), await up.elementOf(processed, 'attachment')];
    const uploaded = async (_: unknown, i: number) => {
      const event = await up.upload(Buffer.concat([clip, bytes(i + 1)]));
      return { event, key: await up.trackOf(event) };
    };
    const [lost, cut, flipped, resized, renamed, endangered] = await Promise.all(
      Array.from({ length: 6 }, uploaded) as [ReturnType<typeof uploaded>, ...ReturnType<typeof uploaded>[]],
    );
    if (!cut || !flipped || !resized || !renamed || !endangered) throw new Error('Too few.');
    const backup = await up.backUp();

    // Of what was uploaded: gone, cut off, another byte.
    await storage.remove([lost.key]);
    const whole = await up.contentOf(cut.key);
    await up.put(cut.key, whole.subarray(0, 1000));
    const altered = await up.flip(flipped.key);
    // Of what a workflow made: gone, and longer than it was.
    await storage.remove([media]);
    await up.put(poster, Buffer.concat([await up.contentOf(poster), bytes(3)]));
    // Of what the rows say: another size, another key, and the ledger as well.
    await up.setTracks({ size: 5 }, resized.event);
    const invented = objectKey('track');
    await up.setTracks({ object_key: invented }, renamed.event);
    await stage([endangered.key]);
    // Of nobody: an object, an upload that never ended, a foreign file.
    const [orphan, unfinished] = [objectKey('track'), objectKey('track')];
    await up.put(orphan, bytes(77));
    await storage.begin(unfinished, UNFINISHED);
    if (s3) {
      const foreign = { Bucket: s3.env.S3_BUCKET, Key: 'notes.txt', Body: 'notes' };
      await new S3Client({ forcePathStyle: true }).send(new PutObjectCommand(foreign));
    } else await writeFile(join(up.system.dataDir, 'objects', 'notes.txt'), 'notes');

    const found = await up.verify('--digests');
    expect(found.code).toBe(1);
    expect(plain(found.lines)).toEqual(
      [
        `missing ${lost.key} event ${lost.event}`,
        `size ${cut.key} event ${cut.event}`,
        `digest ${flipped.key} event ${flipped.event}`,
        `missing ${media} event ${processed}`,
        `size ${poster} event ${processed}`,
        `size ${resized.key} event ${resized.event}`,
        `missing ${invented} event ${renamed.event}`,
        `orphaned ${renamed.key}`,
        `staged ${endangered.key} event ${endangered.event}`,
        `orphaned ${orphan}`,
        `orphaned ${unfinished}`,
        'orphaned notes.txt',
      ].sort(),
    );
    expect((await up.verify()).lines.filter((line) => line.startsWith('digest'))).toEqual([]);

    const repaired = await up.verify('--digests', '--repair');
    expect(repaired.code).toBe(1);
    const left = repaired.lines.filter((line) => line.includes('\n  left: '));
    expect(words(left, 2)).toEqual(
      [lost.key, cut.key, flipped.key, media, poster, resized.key, invented, 'notes.txt'].sort(),
    );
    // Nothing has been removed, not even what nobody owns.
    expect(await storage.size(orphan)).toBe(77);
    expect((await up.contentOf(flipped.key)).equals(altered)).toBe(true);

    const restored = await up.verify('--digests', '--repair', '--from', backup);
    expect(words(restored.lines, 1)).toEqual(
      ['digest', 'missing', 'missing', 'missing', 'orphaned', 'size', 'size', 'size'].sort(),
    );
    // The size in a row is no damage of an object, and a foreign file is nobody's.
    expect(plain((await up.verify('--digests')).lines)).toEqual(
      ['orphaned notes.txt', `size ${resized.key} event ${resized.event}`].sort(),
    );
    expect((await up.contentOf(await up.trackOf(cut.event))).equals(whole)).toBe(true);
    // The damaged bytes can still be had.
    expect((await up.contentOf(flipped.key)).equals(altered)).toBe(true);
    expect(await up.read(processed)).toMatchObject({ processing_state: 'SUCCEEDED' });
    expect(await database.selectFrom('events').select('id').execute()).toHaveLength(7);
  });

  test('what an earlier try has left under the key of an object is nothing to remove the object for', async () => {
    const key = await up.trackOf(await up.upload());
    await up.app.storage.begin(key, UNFINISHED);
    expect(await up.verify('--repair')).toEqual(SOUND);
    expect(await up.ledger()).toEqual([]);
    // A verification that listed it before its row was committed, and noted it.
    await noted({ kind: 'orphaned', key, owner: null, size: null, what: 'unfinished' });
    expect((await up.verify('--repair', '--resume')).lines).toEqual([
      expect.stringMatching(/repaired: it is correct now$/),
    ]);
    expect(await up.ledger()).toEqual([]);
  });

  test('what an earlier try has left beside an object is removed, and what belongs to nobody is reported', async () => {
    const { app } = up;
    const key = await up.trackOf(await up.upload());
    const [nobodys, begun] = [objectKey('track'), await app.context.staging.stage('track')];
    for (const each of [key, nobodys, begun]) await app.storage.begin(each, UNFINISHED);
    expect(await sweepUnfinished(app.database, app.storage)).toBe(1);
    expect((await Array.fromAsync(app.storage.unfinished())).sort()).toEqual([nobodys, begun].sort());
    expect((await up.verify('--digests')).lines).toEqual([expect.stringMatching(`^orphaned ${nobodys}`)]);
  });

  test('foreign unfinished uploads are reported, and left alone', async () => {
    const name = s3 ? 'left/over' : '.unfinished/left-over';
    if (s3) {
      const begin = new CreateMultipartUploadCommand({ Bucket: s3.env.S3_BUCKET, Key: name });
      await new S3Client({ forcePathStyle: true }).send(begin);
    } else await writeFile(join(up.system.dataDir, 'objects', name), '');
    const line = `orphaned ${name} (not a name that Inlet uses)`;
    expect(await up.verify()).toEqual({ code: 1, lines: [line] });
    expect((await up.verify('--repair')).lines).toEqual([expect.stringContaining('\n  left: not a file of Inlet')]);
    expect(await up.ledger()).toEqual([]);
  });

  test('an interrupted verification says how to go on, and goes on where it was', async () => {
    const orphans: string[] = [];
    for (let i = 0; i < 6; i += 1) {
      await up.upload(bytes(1000, i + 1));
      // Half of them are before all that rows name, half of them behind it.
      const key = objectKey(i % 2 ? 'preview' : 'video');
      orphans.push(key);
      await up.put(key, bytes(i + 1));
    }
    const listed: (string | undefined)[] = [];
    const parts = await partsWith((prefix: string, options?: ListOptions) => {
      listed.push(options?.after);
      return up.app.storage.list(prefix, options);
    });
    const notes = notesOf();
    const scope = { digests: false };
    const found: string[] = [];
    const options = {
      ...{ ...scope, notes, batch: { objects: 1, bytes: 1 } },
      onFinding: ({ key }: Finding) => void found.push(key),
    };
    await notes.begin(scope);
    const interrupted = new AbortController();
    const first = verify(parts, {
      ...{ ...options, from: undefined, signal: interrupted.signal },
      onProgress: ({ objects }) => objects >= 3 && interrupted.abort(new Error('Interrupted.')),
    });
    await expect(first).rejects.toThrow('Interrupted.');
    expect(found).toHaveLength(3);

    expect(await notes.resume({ digests: true })).toBeUndefined();
    const from = await notes.resume(scope);
    const { objects } = await verify(parts, { ...options, from, onProgress: () => undefined });
    expect(listed).toEqual([undefined, from?.through]);
    expect(objects).toBe(6);
    // What the first run had not noted as done is looked at again, and is once in the notes.
    const told = (await Array.fromAsync(notes.findings())).map(({ key }) => key);
    expect(told.sort()).toEqual(orphans.sort());

    await notes.begin(scope);
    const stopped = await say(verifyCommand, up.system, [], AbortSignal.abort(new Error('Interrupted.')));
    expect(stopped.code).toBe(130);
    expect((await up.verify('--resume')).lines).toHaveLength(6);
  });
});

describe('with objects in a folder', () => {
  beforeEach(async () => {
    up = await openUpkeep();
  });
  const readInstead = (read: (get: () => Promise<ReadableStream>, key: string) => Promise<ReadableStream>) => {
    const { get } = FolderStorage.prototype;
    vi.spyOn(FolderStorage.prototype, 'get').mockImplementation(function (this: FolderStorage, ...asked) {
      return read(() => get.apply(this, asked), asked[0]);
    });
  };

  test('an event can be deleted whose object the ledger has as well', async () => {
    const event = await up.upload();
    await stage([await up.trackOf(event)], 'repair');
    expect((await up.app.request(`/api/events/${event}`, { method: 'DELETE' })).status).toBe(204);
  });

  test('no transaction is open while objects are read', async () => {
    await up.upload();
    const states: string[] = [];
    readInstead(async (get) => {
      const { rows } = await sql<{ state: string }>`SELECT state FROM pg_stat_activity
        WHERE datname = current_database() AND application_name = 'inlet verify'`.execute(up.app.database);
      states.push(...rows.map(({ state }) => state));
      return get();
    });
    expect((await up.verify('--digests')).code).toBe(0);
    expect(new Set(states)).toEqual(new Set(['idle']));
  });

  test('what has been put in order since it was found is left alone', async () => {
    const key = await up.trackOf(await up.upload());
    await noted({ kind: 'orphaned', key, owner: null, size: 1 });
    const repaired = expect.stringMatching(/repaired: it is correct now$/);
    expect(await up.verify('--repair', '--resume')).toEqual({ code: 0, lines: [repaired] });
    expect(await up.ledger()).toEqual([]);
  });

  test('an object that was not listed, and is there as its row says, is read like the others', async () => {
    const key = await up.trackOf(await up.upload());
    await up.put(key, Buffer.alloc(1000));
    const { storage } = up.app;
    // As if it were stored while the storage was being listed.
    const parts = await partsWith(async function* (prefix: string, options?: ListOptions) {
      for await (const object of storage.list(prefix, options)) if (object.key !== key) yield object;
    });
    const notes = notesOf();
    await notes.begin({ digests: true });
    const found: Finding[] = [];
    const { bytes: read } = await verify(parts, {
      ...{ digests: true, notes, from: undefined, onProgress: () => undefined },
      onFinding: (finding) => void found.push(finding),
    });
    expect(found).toMatchObject([{ kind: 'digest', key }]);
    expect(read).toBe(1000);
  });

  test.each([
    ['a folder with something', (path: string) => mkdir(join(path, 'more'), { recursive: true })],
    ['a link to itself', (path: string) => symlink(basename(path), path)],
  ])('%s in the place of an object counts as missing, and keeps nothing from being verified', async (_, leave) => {
    const event = await up.upload();
    const key = await up.trackOf(event);
    const whole = await up.backUp();
    await rm(up.pathOf(key));
    await leave(up.pathOf(key));
    const { code, lines } = await up.verify('--digests');
    expect([code, plain(lines)]).toEqual([1, [`missing ${key} event ${event}`]]);
    expect((await up.verify('--repair')).code).toBe(1);
    expect((await up.verify('--repair', '--from', whole)).code).toBe(0);
    expect(plain((await up.verify()).lines)).toEqual([`orphaned ${key}`]);
    await up.setTracks({ object_key: key });
    const folder = join(up.system.dataDir, 'backup');
    expect((await up.run(backupCommand, folder)).lines[0]).toBe(`${key}: it is not in the storage`);
    // Where nobody names the key it is reported as well.
    await up.app.database.deleteFrom('events').execute();
    expect(plain((await up.verify()).lines)).toContain(`orphaned ${key}`);
  });

  test('what a file system puts into its own folder is no finding, unreadable folders and odd names end nothing', async () => {
    const objects = join(up.system.dataDir, 'objects');
    for (const name of ['lost+found', 'Other people']) await mkdir(join(objects, name), { mode: 0 });
    // A line separator, and a file after it.
    for (const name of ['a\u2028b', 'c']) await writeFile(join(objects, name), '');
    const { code, lines } = await up.verify();
    expect(code).toBe(1);
    expect(plain(lines)).toEqual(['orphaned Other people', 'orphaned a\u{fffd}b', 'orphaned c']);
  });

  test('a file in the place of a folder is reported, with what is missing for it', async () => {
    const event = await up.upload();
    const key = await up.trackOf(event);
    const shard = dirname(up.pathOf(key));
    await rename(shard, `${shard}-aside`);
    await writeFile(shard, 'no folder');
    expect(plain((await up.verify('--digests')).lines)).toEqual(
      [
        `missing ${key} event ${event}`,
        `orphaned ${dirname(key)}`,
        `orphaned ${dirname(key)}-aside/${basename(key)}`,
      ].sort(),
    );
  });

  test('an object that a working storage breaks off again and again is reported, and one that it breaks off once is read', async () => {
    const event = await up.upload(bytes(500), bytes(501));
    const [bad, other] = await up.keys();
    let broken = 0;
    readInstead(async (get, key) => {
      if (key === other && broken++ > 0) return get();
      let sent = false;
      return new ReadableStream({
        pull(controller) {
          if (sent) controller.error(new Error('The object storage stopped sending an object.'));
          else controller.enqueue(new Uint8Array(10));
          sent = true;
        },
      });
    });
    const { code, lines } = await up.verify('--digests');
    expect([code, plain(lines)]).toEqual([1, [`digest ${bad} event ${event}`]]);
    const folder = join(up.system.dataDir, 'backup');
    expect((await up.run(backupCommand, folder)).lines[0]).toBe(`${bad}: it cannot be read`);
    vi.spyOn(FolderStorage.prototype, 'check').mockRejectedValue(new Error('away'));
    await expect(up.verify('--digests')).rejects.toThrow('stopped sending');
  });

  test('an object that the disk does not give counts as damaged, and keeps nothing from being verified and backed up', async () => {
    const event = await up.upload(bytes(500), bytes(501));
    const [bad] = await up.keys();
    readInstead(async (get, key) => {
      if (key === bad) throw Object.assign(new Error('EIO: i/o error, read'), { code: 'EIO' });
      return get();
    });
    const { code, lines } = await up.verify('--digests');
    expect([code, plain(lines)]).toEqual([1, [`digest ${bad} event ${event}`]]);
    expect((await up.verify('--digests', '--repair')).code).toBe(1);
    expect(await up.run(backupCommand, join(up.system.dataDir, 'backup'))).toMatchObject({
      code: 1,
      lines: [`${bad}: it cannot be read`, expect.stringContaining('2 objects')],
    });
  });
});
