import { mkdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { doctorCommand } from '../../src/cli/inlet/doctor.ts';
import { createTestApp } from '../support/app.ts';
import { created, post } from '../support/app-uploads.ts';
import { bytes } from '../support/bytes.ts';
import { eventFields, file } from '../support/form.ts';
import { say } from '../support/upkeep.ts';

test('a folder of objects that has gone or is empty is not taken for that with the objects', async () => {
  const app = await createTestApp();
  onTestFinished(() => app.close());
  const { databaseUrl, config } = app.context;
  const examined = async () => {
    const { lines } = await say(doctorCommand, { databaseUrl, dataDir: config.dataDir, env: {} });
    return lines.find((line) => line.includes('  storage  '));
  };
  await created(await post(app, [...eventFields(), file('presenter', 'camera.mp4', bytes(500))]));
  expect(await examined()).toMatch(/^ok/);
  const objects = join(config.dataDir, 'objects');
  await rename(objects, `${objects}-elsewhere`);
  expect(await examined()).toMatch(/^FAIL.*the database tells of 1 objects in it/);
  await expect(stat(objects)).rejects.toMatchObject({ code: 'ENOENT' });
  // The place where a disk is mounted stays when it is not, with what an earlier start or doctor left in it.
  for (const name of ['.unfinished', 'lost+found', 'probe'])
    await mkdir(join(objects, name), { recursive: true });
  expect(await examined()).toMatch(/^FAIL.*is empty, and the database tells of 1 objects in it/);
  await rm(objects, { recursive: true });
  await rename(`${objects}-elsewhere`, objects);
});
