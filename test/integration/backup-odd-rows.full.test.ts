import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { backupCommand } from '../../src/cli/inlet/backup.ts';
import { restoreCommand } from '../../src/cli/inlet/restore.ts';
import { verifyCommand } from '../../src/cli/inlet/verify.ts';
import { createStorage } from '../../src/storage/create.ts';
import { createTestApp } from '../support/app.ts';
import { created, post } from '../support/app-uploads.ts';
import { bytes } from '../support/bytes.ts';
import { createEmptyDatabase } from '../support/database.ts';
import { eventually } from '../support/eventually.ts';
import { eventFields, file } from '../support/form.ts';
import { say } from '../support/upkeep.ts';

async function temporary(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'inlet-backup-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

async function emptySystem() {
  const { url, drop } = await createEmptyDatabase();
  onTestFinished(drop);
  return { databaseUrl: url, dataDir: await temporary(), env: {} };
}

/** An event with one recording, and where its object is. */
async function recorded(size: number) {
  const app = await createTestApp();
  onTestFinished(() => app.close());
  const data = bytes(size);
  await created(await post(app, [...eventFields(), file('presenter', 'camera.mp4', data)]));
  const [{ key = '' } = {}] = await Array.fromAsync(app.storage.list(''));
  const { databaseUrl, config } = app.context;
  return { app, data, key, system: { databaseUrl, dataDir: config.dataDir, env: {} } };
}

test('an object that two rows name is backed up and brought back once', async () => {
  const { app, data, key, system } = await recorded(3_000_000);
  const { event_id, size, sha256 } = await app.database
    .selectFrom('tracks')
    .select(['event_id', 'size', 'sha256'])
    .executeTakeFirstOrThrow();
  await app.database
    .insertInto('attachments')
    .values({
      ...{ id: crypto.randomUUID(), event_id, flavor: 'notes/source', filename: 'notes.pdf' },
      ...{ mediatype: 'application/pdf', object_key: key, size, sha256: sha256 ?? '' },
    })
    .execute();
  const folder = await temporary();
  for (const options of [[], ['--digests']])
    expect(await say(backupCommand, system, [...options, folder])).toMatchObject({ code: 0 });
  expect((await readFile(join(folder, 'objects', key))).equals(data)).toBe(true);
  const elsewhere = await emptySystem();
  expect(await say(restoreCommand, elsewhere, [folder])).toMatchObject({ code: 0 });
  expect(await say(verifyCommand, elsewhere, ['--digests'])).toEqual({ code: 0, lines: [] });
});

test('what a backup does not have as its row says is brought back all the same, and told', async () => {
  const { app, data, key, system } = await recorded(500);
  await app.database.updateTable('tracks').set({ size: 5 }).execute();
  const folder = await temporary();
  expect((await say(backupCommand, system, [folder])).code).toBe(1);
  const elsewhere = await emptySystem();
  const restored = await say(restoreCommand, elsewhere, [folder]);
  expect(restored.code).toBe(1);
  expect(restored.lines[0]).toMatch(`${key}: `);
  expect((await say(verifyCommand, elsewhere, ['--repair'])).code).toBe(0);
  // The server may take its time to end the connection of the one before.
  await eventually(async () =>
    expect(await say(verifyCommand, elsewhere, ['--digests'])).toEqual({ code: 0, lines: [] }),
  );
  const storage = await createStorage({ s3: undefined, dataDir: elsewhere.dataDir });
  const brought = Buffer.concat(await Array.fromAsync(await storage.get(key)));
  expect(brought.equals(data)).toBe(true);
});
