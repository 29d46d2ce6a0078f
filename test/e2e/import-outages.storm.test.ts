import { randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { migrate } from '#platform/database/migrate.ts';
import { bytes } from '../support/bytes.ts';
import { createTestDatabase } from '../support/database.ts';
import { debianPostgresAvailable, PostgresCluster, postgresFolder } from '../support/debian-postgres.ts';
import { eventually } from '../support/eventually.ts';
import { temporaryFolder } from '../support/folders.ts';
import { freePort } from '../support/free-port.ts';
import { type HostileSource, hostileSource } from '../support/hostile-source.ts';
import { inlet, startInlet } from '../support/import-command.ts';
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

test.skipIf(!debianPostgresAvailable())('an import waits while PostgreSQL is down, and continues', async () => {
  const folder = await postgresFolder();
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const server = await new PostgresCluster(folder, 'data', await freePort()).create();
  onTestFinished(() => server.end());
  await server.start();
  await migrate(server.url);
  const source = await sourceWithFiles();
  const DATA_DIR = await temporaryFolder();
  const environment = { DATABASE_URL: server.url, DATA_DIR, HOME: DATA_DIR, INLET_PASSWORD: 'not-to-be-shown' };
  const content = source.files.get('/files/3.mp4') as Buffer;
  source.files.set('/files/3.mp4', async (response) => {
    source.files.set('/files/3.mp4', content);
    server.end();
    response.end(content);
    await waiting();
    await server.start();
  });
  const command = startInlet(environment, 'import', source.url, '--user', 'admin', '--parallel', '2');
  onTestFinished(command.kill);
  const waiting = () => eventually(() => expect(command.output).toContain('Waiting for the database'));
  expect((await command.ended)[0], command.output).toBe(0);
  expect(command.output).toContain(`Events: ${EVENTS} copied, 0 failed`);
  expect(command.output).not.toContain('not-to-be-shown');
  const verified = await inlet(environment, 'verify', '--digests');
  expect(verified, verified.stdout).toMatchObject({ code: 0, stdout: '' });
});
