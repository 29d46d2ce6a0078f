import { mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import pg from 'pg';
import { expect, onTestFinished, test, vi } from 'vitest';
import { backupCommand } from '../../src/cli/inlet/backup.ts';
import { restoreCommand } from '../../src/cli/inlet/restore.ts';
import { verifyCommand } from '../../src/cli/inlet/verify.ts';
import { loadConfig } from '../../src/config.ts';
import { createStorage } from '../../src/storage/create.ts';
import { FolderStorage } from '../../src/storage/folder.ts';
import { takeBackup } from '../../src/upkeep/backup/backup.ts';
import { dumpDatabase } from '../../src/upkeep/backup/dump.ts';
import { createTestApp, type TestApp } from '../support/app.ts';
import { created, post } from '../support/app-uploads.ts';
import { bytes } from '../support/bytes.ts';
import { recording } from '../support/clips.ts';
import { createEmptyDatabase } from '../support/database.ts';
import { eventually } from '../support/eventually.ts';
import { eventFields, file } from '../support/form.ts';
import { processEvent } from '../support/process-event.ts';
import { startS3 } from '../support/s3.ts';
import { serveApp } from '../support/serve-uploads.ts';
import { type System, say } from '../support/upkeep.ts';
import { FOR_AGES } from '../support/watched.ts';

type Env = Record<string, string>;

async function temporary(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'inlet-backup-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** Where there is nothing yet: a database without a table, and a folder. */
async function emptySystem(env: Env = {}): Promise<System> {
  const { url, drop } = await createEmptyDatabase();
  onTestFinished(drop);
  return { databaseUrl: url, dataDir: await temporary(), env };
}

async function bucket(kind: string): Promise<Env> {
  if (kind !== 'S3') return {};
  const { env, stop } = await startS3();
  onTestFinished(stop);
  return env;
}

async function openApp(env: Env = {}): Promise<{ app: TestApp; system: System }> {
  Object.assign(process.env, env);
  const app = await createTestApp(undefined, env);
  onTestFinished(app.close);
  const { databaseUrl, config } = app.context;
  return { app, system: { databaseUrl, dataDir: config.dataDir, env } };
}

/** The application on what has been restored. */
async function openRestored({ databaseUrl, dataDir, env }: System): Promise<TestApp> {
  const app = await createTestApp(undefined, { ...env, DATABASE_URL: databaseUrl, DATA_DIR: dataDir });
  onTestFinished(app.close);
  return { ...app, database: app.context.database };
}

const upload = async (app: TestApp, data: Buffer) =>
  created(await post(app, [...eventFields(), file('presenter', 'camera.mp4', data)]));

const read = async (app: TestApp, id: string) => (await app.request(`/api/events/${id}`)).json();

test.each(['folder', 'S3'])(
  'a backup under load brings every event, object and digest back: %s',
  async (kind) => {
    const { app, system } = await openApp(await bucket(kind));
    const clip = await recording();
    const kept: string[] = [await upload(app, clip)];
    await processEvent(app, kept[0] ?? '');
    for (let i = 0; i < 10; i += 1) kept.push(await upload(app, Buffer.concat([clip, bytes(i + 1)])));
    const before = new Map<string, unknown>();
    for (const id of kept) before.set(id, await read(app, id));

    const over = new AbortController();
    let others = 0;
    const load = (async () => {
      for (; !over.signal.aborted; others += 1) {
        const id = await upload(app, bytes(200_000, others));
        if (others % 2) await app.request(`/api/events/${id}`, { method: 'DELETE' });
        await app.context.staging.sweep(FOR_AGES);
      }
    })();
    const folder = await temporary();
    const taken = await say(backupCommand, system, [folder]);
    over.abort();
    await load;
    expect(taken).toMatchObject({ code: 0 });
    expect(others).toBeGreaterThan(1);

    const elsewhere = await emptySystem(await bucket(kind));
    Object.assign(process.env, elsewhere.env);
    expect(await say(restoreCommand, elsewhere, [folder])).toMatchObject({ code: 0 });
    expect(await say(verifyCommand, elsewhere, ['--digests'])).toEqual({ code: 0, lines: [] });
    const restored = await openRestored(elsewhere);
    for (const [id, event] of before) expect(await read(restored, id)).toEqual(event);
    // New rows get numbers that no old one has, and triggers work again.
    const next = await upload(restored, clip);
    await processEvent(restored, next);
    expect(await read(restored, next)).toMatchObject({ processing_state: 'SUCCEEDED' });
  },
);

test('the object of an event that is deleted while it is backed up stays until it has been copied', async () => {
  const { app } = await openApp();
  const id = await upload(app, bytes(1000));
  const clients = await Promise.all(
    [0, 1].map(async () => {
      const client = new pg.Client(app.context.databaseUrl);
      onTestFinished(() => client.end());
      await client.connect();
      return client;
    }),
  );
  const [client, keeper] = clients as [pg.Client, pg.Client];
  const { storage } = app;
  const get: typeof storage.get = async (key, range, signal) => {
    await app.request(`/api/events/${id}`, { method: 'DELETE' });
    await app.context.staging.sweep(FOR_AGES);
    return storage.get(key, range, signal);
  };
  const { signal } = new AbortController();
  const { lacking } = await takeBackup(await temporary(), {
    ...{ client, keeper, storage: { get, check: () => storage.check() }, version: '0', system: '', signal },
    digests: false,
    onProgress: () => undefined,
  });
  expect(lacking).toEqual([]);
  expect(await Array.fromAsync(storage.list(''))).toHaveLength(1);
  await keeper.end();
  await app.context.staging.sweep(FOR_AGES);
  expect(await Array.fromAsync(storage.list(''))).toEqual([]);
});

test('a backup that is taken again copies what is new and lets go of what is gone', async () => {
  const { app, system } = await openApp();
  const [first, second] = [await upload(app, bytes(500)), await upload(app, bytes(600))];
  const folder = await temporary();
  const objects = async () =>
    (await readdir(join(folder, 'objects'), { recursive: true })).filter((name) => name.length > 40).length;
  await say(backupCommand, system, [folder]);
  expect(await objects()).toBe(2);
  for (const id of [first, second]) await app.request(`/api/events/${id}`, { method: 'DELETE' });
  await upload(app, bytes(700));
  expect(await say(backupCommand, system, [folder])).toMatchObject({ code: 0 });
  expect(await objects()).toBe(1);
  expect((await readdir(folder)).sort()).toEqual([
    expect.stringMatching(/^database-/),
    'manifest.json',
    'objects',
  ]);
});

test('what has changed in a backup since it was taken is copied anew by one that reads it', async () => {
  const { app, system } = await openApp();
  await upload(app, bytes(500));
  const [{ key = '' } = {}] = await Array.fromAsync(app.storage.list(''));
  const folder = await temporary();
  await say(backupCommand, system, [folder]);
  const path = join(folder, 'objects', key);
  const whole = await readFile(path);
  await writeFile(path, Buffer.alloc(whole.length));
  expect(await say(backupCommand, system, [folder])).toMatchObject({ code: 0 });
  expect(await readFile(path)).not.toEqual(whole);
  expect(await say(backupCommand, system, ['--digests', folder])).toMatchObject({ code: 0 });
  expect(await readFile(path)).toEqual(whole);
});

test('a damaged object is told of by each backup, and kept beside what is whole', async () => {
  const { app, system } = await openApp();
  await upload(app, bytes(500));
  await upload(app, bytes(600));
  const [lost, damaged] = (await Array.fromAsync(app.storage.list(''))).map(({ key }) => key) as [
    string,
    string,
  ];
  const size = await app.storage.size(damaged);
  await app.storage.remove([lost, damaged]);
  await app.storage.put(damaged, bytes(size, 7), { mediatype: 'video/mp4' });
  const folder = await temporary();
  for (let i = 0; i < 2; i += 1) {
    const { code, lines } = await say(backupCommand, system, [folder]);
    expect(code).toBe(1);
    expect(lines.slice(0, 2).sort()).toEqual(
      [`${lost}: it is not in the storage`, `${damaged}: its SHA-256 is another one`].sort(),
    );
  }
  await stat(join(folder, 'objects', `${damaged}.damaged`));
  await expect(stat(join(folder, 'objects', damaged))).rejects.toMatchObject({ code: 'ENOENT' });
});

test('what is damaged in the storage is brought back as well', async () => {
  const { app, system } = await openApp();
  await upload(app, bytes(500));
  const folder = await temporary();
  await say(backupCommand, system, [folder]);
  const elsewhere = await emptySystem();
  const [object] = await Array.fromAsync(app.storage.list(''));
  const storage = await createStorage({ s3: undefined, dataDir: elsewhere.dataDir });
  await storage.put(object?.key ?? '', bytes(500, 7), { mediatype: 'video/mp4' });
  expect(await say(restoreCommand, elsewhere, [folder])).toMatchObject({ code: 0 });
  expect(await say(verifyCommand, elsewhere, ['--digests'])).toEqual({ code: 0, lines: [] });
});

test('a sweep that decides at the same moment does not keep a backup from being taken', async () => {
  const { app, system } = await openApp();
  await upload(app, bytes(500));
  const over = new AbortController();
  const sweeps = Array.from({ length: 4 }, async () => {
    while (!over.signal.aborted) await app.context.staging.sweep(FOR_AGES);
  });
  for (let i = 0; i < 5; i += 1)
    expect(await say(backupCommand, system, [await temporary()])).toMatchObject({ code: 0 });
  over.abort();
  await Promise.all(sweeps);
});

test('a database that holds data, or is in use, is not replaced unasked', async () => {
  const { app, system } = await openApp();
  await upload(app, bytes(500));
  const folder = await temporary();
  await say(backupCommand, system, [folder]);
  await expect(say(restoreCommand, system, [folder])).rejects.toThrow('stop all of Inlet first');
  const elsewhere = await emptySystem();
  expect(await say(restoreCommand, elsewhere, [folder])).toMatchObject({ code: 0 });
  await expect(say(restoreCommand, elsewhere, [folder])).rejects.toThrow('--replace');
  expect(await say(restoreCommand, elsewhere, [folder, '--replace'])).toMatchObject({ code: 0 });
  await expect(say(restoreCommand, elsewhere, [await temporary()])).rejects.toThrow('no complete backup');
});

test('a backup is not replaced by that of another database', async () => {
  const { app, system } = await openApp();
  await upload(app, bytes(500));
  const folder = await temporary();
  await say(backupCommand, system, [folder]);
  const other = await openApp();
  // All databases of the tests are copies of one.
  await other.app.database
    .updateTable('nonce_key')
    .set({ key: Buffer.alloc(32, 7) })
    .execute();
  await expect(say(backupCommand, other.system, [folder])).rejects.toThrow('the backup of another database');
  const elsewhere = await emptySystem();
  expect(await say(restoreCommand, elsewhere, [folder])).toMatchObject({ code: 0 });
  expect(await say(backupCommand, elsewhere, [folder])).toMatchObject({ code: 0 });
});

test('a backup that does not say whose it is can be restored, and followed by another', async () => {
  const { app, system } = await openApp();
  await upload(app, bytes(500));
  const folder = await temporary();
  await say(backupCommand, system, [folder]);
  const path = join(folder, 'manifest.json');
  const { system: _, ...rest } = JSON.parse(await readFile(path, 'utf8')) as Record<string, unknown>;
  await writeFile(path, JSON.stringify(rest));
  expect(await say(restoreCommand, await emptySystem(), [folder])).toMatchObject({ code: 0 });
  expect(await say(backupCommand, system, [folder])).toMatchObject({ code: 0 });
});

test('backups that end for want of room leave no tables behind each', async () => {
  const { app, system } = await openApp();
  await upload(app, bytes(500));
  const folder = await temporary();
  await writeFile(join(folder, 'objects'), '');
  for (let i = 0; i < 3; i += 1)
    await expect(say(backupCommand, system, [folder])).rejects.toThrow('ENOTDIR');
  expect((await readdir(folder)).filter((name) => name.startsWith('database-'))).toHaveLength(1);
});

test('a backup that is stopped in a large table ends at once', async () => {
  const { app } = await openApp();
  await sql`CREATE TABLE accounts_large AS SELECT n, repeat(sha256(n::text::bytea)::text, 20) AS text
    FROM generate_series(1, 40000) AS n`.execute(app.database);
  const client = new pg.Client(app.context.databaseUrl);
  onTestFinished(() => client.end());
  await client.connect();
  const folder = await temporary();
  const stopped = new AbortController();
  const dump = dumpDatabase(client, folder, stopped.signal);
  dump.catch(() => undefined);
  await expect
    .poll(() => readdir(folder), { interval: 1, timeout: 20_000 })
    .toContain('accounts_large.copy.gz');
  stopped.abort(new Error('Interrupted.'));
  await expect(dump).rejects.toThrow();
  // The database notices a moment later that nobody listens any more.
  await eventually(async () => {
    const { rows } = await sql`SELECT FROM pg_stat_activity
      WHERE datname = current_database() AND query LIKE 'COPY%'`.execute(app.database);
    expect(rows).toHaveLength(0);
  });
});

test('what somebody has stored since a restoration began is not lost', async () => {
  const { app, system } = await openApp();
  await upload(app, bytes(500));
  const folder = await temporary();
  await say(backupCommand, system, [folder]);
  const elsewhere = await emptySystem();
  const put = FolderStorage.prototype.put;
  vi.spyOn(FolderStorage.prototype, 'put').mockImplementation(async function (this: FolderStorage, ...given) {
    const client = new pg.Client(elsewhere.databaseUrl);
    await client.connect();
    await client.query("INSERT INTO series (id, title) VALUES ('late', 'late')");
    await client.end();
    return put.apply(this, given);
  });
  await expect(say(restoreCommand, elsewhere, [folder])).rejects.toThrow('--replace');
  const client = new pg.Client(elsewhere.databaseUrl);
  onTestFinished(() => client.end());
  await client.connect();
  expect((await client.query('SELECT id FROM series')).rows).toEqual([{ id: 'late' }]);
});

test.each(['folder', 'S3'])('a restoration goes on that was killed in an object: %s', async (kind) => {
  const { app, system } = await openApp(await bucket(kind));
  await upload(app, bytes(500));
  const folder = await temporary();
  await say(backupCommand, system, [folder]);
  const elsewhere = await emptySystem(await bucket(kind));
  Object.assign(process.env, elsewhere.env);
  const config = loadConfig({ ...elsewhere.env, DATA_DIR: elsewhere.dataDir });
  const storage = await createStorage(config);
  onTestFinished(() => storage.close());
  const [object] = await Array.fromAsync(app.storage.list(''));
  await storage.begin(object?.key ?? '', { mediatype: 'video/mp4', expectedBytes: 500 });
  expect(await say(restoreCommand, elsewhere, [folder])).toMatchObject({ code: 0 });
  expect(await Array.fromAsync(storage.unfinished())).toEqual([]);
  expect(await say(verifyCommand, elsewhere, ['--digests'])).toEqual({ code: 0, lines: [] });
});

test('a folder is refused in which a backup would remove what is not its own', async () => {
  const { app, system } = await openApp();
  await upload(app, bytes(500));
  const foreign = await temporary();
  await writeFile(join(foreign, 'thesis.pdf'), 'years of work');
  await expect(say(backupCommand, system, [foreign])).rejects.toThrow('"thesis.pdf", which is of no backup');
  expect(await readdir(foreign)).toEqual(['thesis.pdf']);
  const other = await temporary();
  await writeFile(join(other, 'manifest.json'), '{"name":"web app"}');
  await expect(say(backupCommand, system, [other])).rejects.toThrow('is not of a backup');
  await expect(say(backupCommand, system, [join(foreign, 'thesis.pdf')])).rejects.toThrow('cannot be');
  // The storage itself, by whatever name.
  const link = join(await temporary(), 'link');
  await symlink(system.dataDir, link);
  for (const folder of [system.dataDir, link])
    await expect(say(backupCommand, system, [folder])).rejects.toThrow('where Inlet has its objects');
  const disk = await temporary();
  await mkdir(join(disk, 'lost+found'));
  for (let i = 0; i < 2; i += 1) expect(await say(backupCommand, system, [disk])).toMatchObject({ code: 0 });
});

test.each([
  ['cut off', 'objects.jsonl.gz', (whole: Buffer) => whole.subarray(0, whole.length - 20)],
  ['gone', 'objects.jsonl.gz', () => undefined],
  ['written over', 'events.copy.gz', (whole: Buffer) => Buffer.from(whole).fill(0x55, 12, 40)],
])(
  'a backup of which a file is %s (%s) says so in a sentence, and nothing is restored',
  async (_, name, damage) => {
    const { app, system } = await openApp();
    for (let i = 1; i < 4; i += 1) await upload(app, bytes(500 * i));
    const folder = await temporary();
    await say(backupCommand, system, [folder]);
    const tables = (await readdir(folder)).find((each) => each.startsWith('database-')) ?? '';
    const path = join(folder, tables, name);
    const damaged = damage(await readFile(path));
    await (damaged ? writeFile(path, damaged) : rm(path));
    const elsewhere = await emptySystem();
    await expect(say(restoreCommand, elsewhere, [folder])).rejects.toThrow(
      expect.objectContaining({ name: 'CommandError', message: expect.stringContaining(path) }),
    );
    const client = new pg.Client(elsewhere.databaseUrl);
    onTestFinished(() => client.end());
    await client.connect();
    expect((await client.query('SELECT FROM events')).rowCount).toBe(0);
  },
);

test('an upload that has ended is restored, one under way is begun anew by its client', async () => {
  const { app, admin, close } = await serveApp();
  onTestFinished(close);
  const data = bytes(3000);
  const [whole, half] = [await admin.create(data.length), await admin.create(data.length)];
  expect((await admin.patch(whole, 0, data)).status).toBe(204);
  expect((await admin.patch(half, 0, data.subarray(0, 1000))).status).toBe(204);
  const { databaseUrl, config } = app.context;
  const folder = await temporary();
  expect(await say(backupCommand, { databaseUrl, dataDir: config.dataDir, env: {} }, [folder])).toMatchObject(
    {
      code: 0,
    },
  );
  const elsewhere = await emptySystem();
  expect(await say(restoreCommand, elsewhere, [folder])).toMatchObject({ code: 0 });
  expect(await say(verifyCommand, elsewhere, ['--digests'])).toEqual({ code: 0, lines: [] });
  const restored = await openRestored(elsewhere);
  const uploads = JSON.stringify([{ id: whole.split('/').at(-1), field: 'presenter' }]);
  await created(await post(restored, [...eventFields(), { name: 'uploads', content: uploads }]));
  const head = await restored.request(half, { method: 'HEAD', headers: { 'Tus-Resumable': '1.0.0' } });
  expect([404, 410]).toContain(head.status);
});
