import { mkdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { backupCommand } from '#cli/inlet/backup.ts';
import { doctorCommand } from '#cli/inlet/doctor.ts';
import { restoreCommand } from '#cli/inlet/restore.ts';
import { objectKey } from '#platform/storage/object-keys.ts';
import { bytes } from '../support/bytes.ts';
import { testTools } from '../support/clips.ts';
import { temporaryFolder } from '../support/folders.ts';
import { emptySystem, openUpkeep, SOUND, say, type Upkeep } from '../support/upkeep.ts';

let up: Upkeep;
beforeEach(async () => {
  up = await openUpkeep();
});

describe('a backup', () => {
  test('restores every event and object', async () => {
    const [event, other] = [await up.upload(bytes(3_000_000), bytes(20)), await up.upload()];
    const folder = await temporaryFolder();
    expect(await up.run(backupCommand, folder)).toMatchObject({ code: 0 });
    const elsewhere = await emptySystem();
    expect(await say(restoreCommand, elsewhere, [folder])).toMatchObject({ code: 0 });
    const restored = await openUpkeep({ DATABASE_URL: elsewhere.databaseUrl, DATA_DIR: elsewhere.dataDir });
    for (const id of [event, other]) expect(await restored.read(id)).toEqual(await up.read(id));
    expect(await restored.keys()).toEqual(await up.keys());
    expect(await restored.verify('--digests')).toEqual(SOUND);
    await expect(say(restoreCommand, elsewhere, [folder])).rejects.toThrow('Stop all Inlet processes first');
  });

  test('reports what it lacks', async () => {
    const folder = await temporaryFolder();
    const key = await up.trackOf(await up.upload());
    await up.app.storage.remove([key]);
    const { code, lines } = await up.run(backupCommand, folder);
    expect([code, lines[0]]).toEqual([1, `${key}: it is not in the storage`]);
  });
});

describe('verification and repair', () => {
  test('report what is missing, damaged or orphaned, and repair it from a backup', async () => {
    const events: string[] = [];
    for (let i = 1; i < 6; i += 1) events.push(await up.upload(bytes(1000, i)));
    const keys = await Promise.all(events.map((event) => up.trackOf(event)));
    const [lost = '', cut = '', flipped = '', renamed = ''] = keys;
    const backup = await up.backUp();
    expect(await up.verify('--digests')).toEqual(SOUND);
    await up.app.storage.remove([lost]);
    await up.put(cut, bytes(100));
    await up.flip(flipped);
    const invented = objectKey('track');
    await up.setTracks({ object_key: invented }, events[3]);
    const [orphan, unfinished] = [objectKey('track'), await up.app.context.staging.stage('track')];
    await up.put(orphan, bytes(77));
    await up.put(unfinished, bytes(78));

    const { code, lines } = await up.verify('--digests');
    expect(code).toBe(1);
    expect(lines.map((line) => line.split(' (')[0]).sort()).toEqual(
      [
        `missing ${lost} event ${events[0]}`,
        `size ${cut} event ${events[1]}`,
        `digest ${flipped} event ${events[2]}`,
        `missing ${invented} event ${events[3]}`,
        `orphaned ${renamed}`,
        `orphaned ${orphan}`,
      ].sort(),
    );
    const repaired = await up.verify('--digests', '--repair');
    const left = repaired.lines.filter((line) => line.includes('\n  left: '));
    expect(left.map((line) => line.split(' ')[1]).sort()).toEqual([lost, cut, flipped, invented].sort());
    expect((await up.ledger()).filter((entry) => entry.startsWith('repair')).sort()).toEqual(
      [`repair ${orphan}`, `repair ${renamed}`].sort(),
    );
    expect((await up.verify('--digests', '--repair', '--from', backup)).code).toBe(0);
    expect(await up.verify('--digests')).toEqual(SOUND);
    for (const [i, event] of events.entries())
      expect(await up.contentOf(await up.trackOf(event))).toEqual(bytes(1000, i + 1));
  });

  test('what the ledger would have removed is taken off it, whatever else is wrong with it', async () => {
    const events: string[] = [];
    for (let i = 1; i < 4; i += 1) events.push(await up.upload(bytes(1000, i)));
    const [sound = '', resized = '', lost = ''] = await Promise.all(events.map((event) => up.trackOf(event)));
    await up.app.storage.remove([lost]);
    await up.setTracks({ size: 5 }, events[1]);
    const entry = { owner: null, expires_at: new Date(Date.now() + 3_600_000) };
    const entries = [sound, resized, lost].map((object_key) => ({ ...entry, object_key }));
    await up.app.database.insertInto('staging').values(entries).execute();
    const kinds = async (...args: string[]) =>
      (await up.verify(...args)).lines.map((line) => line.split(' ', 2).join(' ')).sort();
    const damage = [`missing ${lost}`, `size ${resized}`];
    expect(await kinds()).toEqual([...damage, `staged ${sound}`]);
    expect(await kinds('--repair')).toEqual([...damage, `staged ${sound}`]);
    expect(await up.ledger()).toEqual([]);
    expect(await kinds()).toEqual(damage);
  });
});

test('the doctor does not take a folder of objects that has gone or is empty for that with the objects', async () => {
  const examined = async () => (await up.run(doctorCommand)).lines.find((line) => line.includes('  storage  '));
  await up.upload();
  expect(await examined()).toMatch(/^ok/);
  const objects = join(up.system.dataDir, 'objects');
  await rename(objects, `${objects}-elsewhere`);
  expect(await examined()).toMatch(/^FAIL.*the database lists 1 objects in it/);
  await expect(stat(objects)).rejects.toMatchObject({ code: 'ENOENT' });
  // The mount point of a disk stays when that is not mounted, with what an earlier start or doctor left in it.
  for (const name of ['.unfinished', 'lost+found', 'probe']) await mkdir(join(objects, name), { recursive: true });
  expect(await examined()).toMatch(/^FAIL.*is empty, but the database lists 1 objects in it/);
  await rm(objects, { recursive: true });
  await rename(`${objects}-elsewhere`, objects);
});

test('the doctor reports a workflow and an ffmpeg with which no worker would start', async () => {
  const WORKFLOWS_DIR = await temporaryFolder();
  await writeFile(join(WORKFLOWS_DIR, 'own.yaml'), 'id: own\ntitle: Own\noperations:\n  - operation: inspekt\n');
  const { ffmpeg, ffprobe: FFPROBE_PATH } = await testTools();
  const FFMPEG_PATH = join(WORKFLOWS_DIR, 'ffmpeg');
  await writeFile(FFMPEG_PATH, `#!/bin/sh\n'${ffmpeg}' "$@" | grep -v zscale\n`, { mode: 0o755 });
  const { lines } = await say(doctorCommand, { ...up.system, env: { WORKFLOWS_DIR, FFMPEG_PATH, FFPROBE_PATH } });
  const said = (name: string) => lines.find((line) => line.includes(`  ${name}  `));
  expect(said('definitions')).toMatch(/^FAIL {2}definitions {2}\S+\/own\.yaml:4: unknown operation "inspekt"/);
  expect(said('ffmpeg')).toMatch(/^FAIL.*was built without zscale\./);
});

test('the doctor asks for no more workers while a lane is paused', async () => {
  const { database } = up.app;
  const examined = async () => (await up.run(doctorCommand)).lines.find((line) => line.includes('  workers  '));
  await up.upload();
  await database.updateTable('workflow_operations').set({ lane: 'light' }).where('state', '=', 'ready').execute();
  expect(await examined()).toMatch(/the oldest operation has waited/);
  await database.insertInto('lane_settings').values({ lane: 'light', paused: true, changed_by: 'ada' }).execute();
  expect(await examined()).toMatch(/nothing waits/);
});
