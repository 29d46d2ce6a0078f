import { mkdir, mkdtemp, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { backupCommand } from '../../src/cli/inlet/backup.ts';
import { verifyCommand } from '../../src/cli/inlet/verify.ts';
import { FolderStorage } from '../../src/storage/folder.ts';
import { createTestApp, type TestApp } from '../support/app.ts';
import { created, post } from '../support/app-uploads.ts';
import { bytes } from '../support/bytes.ts';
import { eventFields, file } from '../support/form.ts';
import { say } from '../support/upkeep.ts';

let app: TestApp;
beforeEach(async () => {
  app = await createTestApp();
});
afterEach(() => app.close());

const system = () => {
  const { databaseUrl, config } = app.context;
  return { databaseUrl, dataDir: config.dataDir, env: {} };
};
const verifyNow = async (...args: string[]) => {
  const { code, lines } = await say(verifyCommand, system(), args);
  return { code, lines: lines.map((line) => line.split(' (')[0]).sort() };
};

test.each([
  ['a folder', (path: string) => mkdir(path)],
  ['a folder with something', (path: string) => mkdir(join(path, 'more'), { recursive: true })],
  ['a link to itself', (path: string) => symlink(basename(path), path)],
])(
  '%s in the place of an object is told of as missing it, and keeps nothing from being verified',
  async (_, leave) => {
    const event = await created(
      await post(app, [...eventFields(), file('presenter', 'camera.mp4', bytes(500))]),
    );
    const [object] = await Array.fromAsync(app.storage.list(''));
    const key = object?.key ?? '';
    const path = app.storage.localPath(key) ?? '';
    const whole = await mkdtemp(join(tmpdir(), 'inlet-backup-'));
    onTestFinished(() => rm(whole, { recursive: true }));
    expect(await say(backupCommand, system(), [whole])).toMatchObject({ code: 0 });
    await rm(path);
    await leave(path);
    const expected = { code: 1, lines: [`missing ${key} event ${event}`] };
    expect(await verifyNow('--digests')).toEqual(expected);
    expect((await verifyNow('--repair')).code).toBe(1);
    expect((await verifyNow('--repair', '--from', whole)).code).toBe(0);
    expect(await verifyNow()).toEqual({ code: 1, lines: [`orphaned ${key}`] });
    await app.database.updateTable('tracks').set({ object_key: key }).execute();
    const folder = join(app.context.config.dataDir, 'backup');
    expect((await say(backupCommand, system(), [folder])).lines[0]).toBe(`${key}: it is not in the storage`);
    // Where nobody names the key it is told of as well.
    await app.database.deleteFrom('events').execute();
    expect((await verifyNow()).lines).toContain(`orphaned ${key}`);
  },
);

test('what a file system puts into its own folder is no finding, and what is not to be read ends nothing', async () => {
  const objects = join(app.context.config.dataDir, 'objects');
  await mkdir(join(objects, 'lost+found'), { mode: 0 });
  await mkdir(join(objects, 'Other people'), { mode: 0 });
  expect(await verifyNow()).toEqual({ code: 1, lines: ['orphaned Other people'] });
});

test('a name with a line separator in it is noted as it is, and what comes after it as well', async () => {
  const objects = join(app.context.config.dataDir, 'objects');
  await writeFile(join(objects, 'a\u2028b'), '');
  await writeFile(join(objects, 'c'), '');
  expect(await verifyNow()).toEqual({ code: 1, lines: ['orphaned a\u{fffd}b', 'orphaned c'] });
});

test('a file in the place of a folder is told of, with what is missing for it', async () => {
  const event = await created(
    await post(app, [...eventFields(), file('presenter', 'camera.mp4', bytes(500))]),
  );
  const [object] = await Array.fromAsync(app.storage.list(''));
  const key = object?.key ?? '';
  const shard = dirname(app.storage.localPath(key) ?? '');
  await rename(shard, `${shard}-aside`);
  await writeFile(shard, 'no folder');
  expect((await verifyNow('--digests')).lines).toEqual(
    [
      `missing ${key} event ${event}`,
      `orphaned ${dirname(key)}`,
      `orphaned ${dirname(key)}-aside/${basename(key)}`,
    ].sort(),
  );
});

test('an object that a storage which works breaks off again and again is told of, and one that it breaks off once is read', async () => {
  const event = await created(
    await post(app, [
      ...eventFields(),
      file('presenter', 'camera.mp4', bytes(500)),
      file('presentation', 'slides.mp4', bytes(501)),
    ]),
  );
  const [bad, other] = (await Array.fromAsync(app.storage.list(''))).map(({ key }) => key);
  const get = FolderStorage.prototype.get;
  let broken = 0;
  vi.spyOn(FolderStorage.prototype, 'get').mockImplementation(async function (this: FolderStorage, ...asked) {
    if (asked[0] === other && broken++ > 0) return get.apply(this, asked);
    let sent = false;
    return new ReadableStream({
      pull(controller) {
        if (sent) controller.error(new Error('The storage stopped sending an object.'));
        else controller.enqueue(new Uint8Array(10));
        sent = true;
      },
    });
  });
  expect(await verifyNow('--digests')).toEqual({ code: 1, lines: [`digest ${bad} event ${event}`] });
  const folder = join(app.context.config.dataDir, 'backup');
  expect((await say(backupCommand, system(), [folder])).lines[0]).toBe(`${bad}: it cannot be read`);
  vi.spyOn(FolderStorage.prototype, 'check').mockRejectedValue(new Error('away'));
  await expect(verifyNow('--digests')).rejects.toThrow('stopped sending');
});

test('an object that the disk does not give is told of as damaged, and keeps nothing from being verified and backed up', async () => {
  const event = await created(
    await post(app, [
      ...eventFields(),
      file('presenter', 'camera.mp4', bytes(500)),
      file('presentation', 'slides.mp4', bytes(501)),
    ]),
  );
  const [object] = await Array.fromAsync(app.storage.list(''));
  const key = object?.key ?? '';
  const get = FolderStorage.prototype.get;
  vi.spyOn(FolderStorage.prototype, 'get').mockImplementation(async function (this: FolderStorage, ...asked) {
    if (asked[0] === key) throw Object.assign(new Error('EIO: i/o error, read'), { code: 'EIO' });
    return get.apply(this, asked);
  });
  expect(await verifyNow('--digests')).toEqual({ code: 1, lines: [`digest ${key} event ${event}`] });
  expect((await verifyNow('--digests', '--repair')).code).toBe(1);
  const folder = join(app.context.config.dataDir, 'backup');
  const backup = await say(backupCommand, system(), [folder]);
  expect(backup).toMatchObject({
    code: 1,
    lines: [`${key}: it cannot be read`, expect.stringContaining('2 objects')],
  });
});
