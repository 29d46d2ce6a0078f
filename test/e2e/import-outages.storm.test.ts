import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { sql } from 'kysely';
import { expect, onTestFinished, test } from 'vitest';
import { bytes } from '../support/bytes.ts';
import { createTestDatabase } from '../support/database.ts';
import { temporaryFolder } from '../support/folders.ts';
import { type HostileSource, hostileSource } from '../support/hostile-source.ts';
import { inlet } from '../support/import-command.ts';
import { growDisk, mountable, smallDisk } from '../support/small-disk.ts';

const EVENTS = 6;
const FILE_BYTES = 600_000;

/** A source with recordings of 600 kB. */
async function sourceWithFiles(): Promise<HostileSource> {
  const source = await hostileSource();
  for (let n = 0; n < EVENTS; n++) {
    const start = `2020-01-01T00:00:0${n}Z`;
    const path = `/files/${n}.mp4`;
    const media = {
      id: randomUUID(),
      mediatype: 'video/mp4',
      url: path,
      flavor: 'presenter/delivery',
      size: FILE_BYTES,
    };
    const publication = { id: randomUUID(), channel: 'engage-player', media: [media] };
    const states = { status: 'EVENTS.EVENTS.STATUS.PROCESSED', processing_state: 'SUCCEEDED' };
    source.events.push({
      identifier: randomUUID(),
      title: `${n}`,
      start,
      created: start,
      ...states,
      publications: [publication],
    });
    source.files.set(path, bytes(FILE_BYTES, n));
  }
  return source;
}

async function prepare() {
  const DATA_DIR = await temporaryFolder();
  const target = await createTestDatabase();
  onTestFinished(target.close);
  const source = await sourceWithFiles();
  const environment = { DATABASE_URL: target.url, DATA_DIR, HOME: DATA_DIR, INLET_PASSWORD: 'not-to-be-shown' };
  const start = () => inlet(environment, 'import', source.url, '--user', 'admin', '--parallel', '2');
  return {
    DATA_DIR,
    database: target.database,
    source,
    start,
    verify: () => inlet(environment, 'verify', '--digests'),
  };
}

async function expectComplete({ database, start, verify }: Awaited<ReturnType<typeof prepare>>): Promise<void> {
  const done = await start();
  expect(done, done.stderr).toMatchObject({
    code: 0,
    stdout: expect.stringContaining(`Events: ${EVENTS} copied, 0 failed`),
  });
  expect(await database.selectFrom('staging').selectAll().execute()).toEqual([]);
  const verified = await verify();
  expect(verified, verified.stdout).toMatchObject({ code: 0, stdout: '' });
}

test.skipIf(!mountable)('a full disk ends an import, which continues once there is room', async () => {
  const scene = await prepare();
  const folder = join(scene.DATA_DIR, 'objects');
  const remove = await smallDisk(folder, 2);
  onTestFinished(async () => void (await remove()));
  const ended = await scene.start();
  expect(ended.code).toBe(1);
  expect(ended.stderr).toContain('space');
  expect(ended.stdout + ended.stderr).not.toContain('not-to-be-shown');
  await growDisk(folder, 32);
  await expectComplete(scene);
});

test('an import that has lost the database continues when it is run again', async () => {
  const scene = await prepare();
  const [, content] = [...scene.source.files][3] ?? [];
  const end = sql`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'inlet import'`;
  scene.source.files.set('/files/3.mp4', async (response) => {
    await end.execute(scene.database);
    scene.source.files.set('/files/3.mp4', content as Buffer);
    response.end(content);
  });
  const ended = await scene.start();
  expect(ended.stdout + ended.stderr).not.toContain('not-to-be-shown');
  await expectComplete(scene);
});
