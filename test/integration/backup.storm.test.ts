import { mkdir, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { sql } from 'kysely';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { backupCommand } from '#cli/inlet/backup.ts';
import { restoreCommand } from '#cli/inlet/restore.ts';
import { verifyCommand } from '#cli/inlet/verify.ts';
import { takeBackup } from '#maintenance/backup/backup.ts';
import { dumpDatabase } from '#maintenance/backup/dump.ts';
import { loadConfig } from '#platform/config/config.ts';
import { FolderStorage, folderPlace } from '#platform/storage/folder.ts';
import { created, post } from '../support/app-uploads.ts';
import { bytes, source } from '../support/bytes.ts';
import { recording } from '../support/clips.ts';
import { eventually } from '../support/eventually.ts';
import { temporaryFolder } from '../support/folders.ts';
import { eventFields } from '../support/form.ts';
import { Harvester } from '../support/harvester.ts';
import { processEvent } from '../support/process-event.ts';
import { startS3 } from '../support/s3.ts';
import { createSeries } from '../support/series.ts';
import { serveApp } from '../support/serve-uploads.ts';
import { connected, emptySystem, openUpkeep, SOUND, type System, say, Upkeep, VIDEO } from '../support/upkeep.ts';
import { FOR_AGES } from '../support/watched.ts';

const DONE = expect.objectContaining({ code: 0 });

async function bucket(kind: string): Promise<Record<string, string>> {
  if (kind !== 'S3') return {};
  const { env, stop } = await startS3();
  onTestFinished(stop);
  return env;
}

/** A system with the recordings of as many events, and a backup of it. */
async function backedUp(count = 1, env = {}) {
  const up = await openUpkeep(env);
  const events: string[] = [];
  for (let i = 0; i < count; i += 1) events.push(await up.upload(bytes(500 + 100 * i)));
  const [key = ''] = await up.keys();
  return { up, events, key, folder: await up.backUp() };
}

/** Restores a backup into another system. */
async function restored(folder: string, env = {}): Promise<System> {
  const elsewhere = await emptySystem(env);
  expect(await say(restoreCommand, elsewhere, [folder])).toEqual(DONE);
  return elsewhere;
}

const isSound = async (system: System) => expect(await say(verifyCommand, system, ['--digests'])).toEqual(SOUND);

/** The application on what has been restored. */
const opened = ({ databaseUrl, dataDir, env }: System) =>
  openUpkeep({ ...env, DATABASE_URL: databaseUrl, DATA_DIR: dataDir });

async function rows(url: string, query: string): Promise<unknown[]> {
  const client = await connected(url);
  const { rows } = await client.query(query);
  await client.end();
  return rows;
}

describe('under load', () => {
  test.each(['folder', 'S3'])('a backup brings every event, object and digest back: %s', async (kind) => {
    const up = await openUpkeep(await bucket(kind));
    const clip = await recording();
    const kept = [await up.upload(clip)];
    await processEvent(up.app, kept[0] ?? '');
    for (let i = 0; i < 10; i += 1) kept.push(await up.upload(bytes(1000, i + 1)));
    const before = new Map<string, unknown>();
    for (const id of kept) before.set(id, await up.read(id));

    const over = new AbortController();
    let others = 0;
    const load = (async () => {
      for (; !over.signal.aborted; others += 1) {
        const id = await up.upload(bytes(200_000, others));
        if (others % 2) await up.delete(id);
        await up.app.context.staging.sweep(FOR_AGES);
      }
    })();
    const folder = await temporaryFolder();
    const taken = await up.run(backupCommand, folder);
    over.abort();
    await load;
    expect(taken).toEqual(DONE);
    expect(others).toBeGreaterThan(1);

    const env = await bucket(kind);
    Object.assign(process.env, env);
    const elsewhere = await restored(folder, env);
    await isSound(elsewhere);
    const other = await opened(elsewhere);
    for (const [id, event] of before) expect(await other.read(id)).toEqual(event);
    // New rows get numbers that no old one has, and triggers work again.
    const next = await other.upload(clip);
    await processEvent(other.app, next);
    expect(await other.read(next)).toMatchObject({ processing_state: 'SUCCEEDED' });
  });

  test('the object of an event that is deleted while it is backed up stays until it has been copied', async () => {
    const up = await openUpkeep();
    const id = await up.upload();
    const [client, keeper] = [await up.connect(), await up.connect()];
    const { storage, context } = up.app;
    const get: typeof storage.get = async (key, range, signal) => {
      await up.delete(id);
      await context.staging.sweep(FOR_AGES);
      return storage.get(key, range, signal);
    };
    const { signal } = new AbortController();
    const { lacking } = await takeBackup(await temporaryFolder(), {
      ...{ client, keeper, storage: { get, check: () => storage.check() }, version: '0', system: '', signal },
      ...{ digests: false, onProgress: () => undefined },
    });
    expect(lacking).toEqual([]);
    expect(await up.keys()).toHaveLength(1);
    await keeper.end();
    await context.staging.sweep(FOR_AGES);
    expect(await up.keys()).toEqual([]);
  });

  test('a sweep that decides at the same moment does not keep a backup from being taken', async () => {
    const { up } = await backedUp();
    const over = new AbortController();
    const sweeps = Array.from({ length: 4 }, async () => {
      while (!over.signal.aborted) await up.app.context.staging.sweep(FOR_AGES);
    });
    for (let i = 0; i < 5; i += 1) expect(await up.run(backupCommand, await temporaryFolder())).toEqual(DONE);
    over.abort();
    await Promise.all(sweeps);
  });

  test('a backup that is stopped in a large table ends immediately', async () => {
    const up = await openUpkeep();
    const { database } = up.app;
    await sql`CREATE TABLE accounts_large AS SELECT n, repeat(sha256(n::text::bytea)::text, 20) AS text
      FROM generate_series(1, 40000) AS n`.execute(database);
    const folder = await temporaryFolder();
    const stopped = new AbortController();
    const dump = dumpDatabase(await up.connect(), folder, stopped.signal);
    dump.catch(() => undefined);
    await expect.poll(() => readdir(folder), { interval: 1 }).toContain('accounts_large.copy.gz');
    stopped.abort(new Error('Interrupted.'));
    await expect(dump).rejects.toThrow();
    // The database notices a moment later that nobody listens any more.
    await eventually(async () => {
      const { rows } = await sql`SELECT FROM pg_stat_activity
        WHERE datname = current_database() AND query LIKE 'COPY%'`.execute(database);
      expect(rows).toHaveLength(0);
    });
  });
});

describe('a backup that is taken again', () => {
  test('copies what is new and lets go of what is gone', async () => {
    const { up, events, folder } = await backedUp(2);
    const objects = async () =>
      (await readdir(join(folder, 'objects'), { recursive: true })).filter((name) => name.length > 40).length;
    expect(await objects()).toBe(2);
    for (const id of events) await up.delete(id);
    await up.upload(bytes(700));
    expect(await up.run(backupCommand, folder)).toEqual(DONE);
    expect(await objects()).toBe(1);
    const names = [expect.stringMatching(/^database-/), 'manifest.json', 'objects'];
    expect((await readdir(folder)).sort()).toEqual(names);
  });

  test('copies what has changed in it when it reads it', async () => {
    const { up, key, folder } = await backedUp();
    const path = join(folder, 'objects', key);
    const whole = await readFile(path);
    await writeFile(path, Buffer.alloc(whole.length));
    expect(await up.run(backupCommand, folder)).toEqual(DONE);
    expect(await readFile(path)).not.toEqual(whole);
    expect(await up.run(backupCommand, '--digests', folder)).toEqual(DONE);
    expect(await readFile(path)).toEqual(whole);
  });

  test('reports a damaged object each time, and keeps it beside what is whole', async () => {
    const up = await openUpkeep();
    for (const size of [500, 600]) await up.upload(bytes(size));
    const [lost = '', damaged = ''] = await up.keys();
    await up.put(damaged, bytes(await up.app.storage.size(damaged), 7));
    await up.app.storage.remove([lost]);
    const folder = await temporaryFolder();
    for (let i = 0; i < 2; i += 1) {
      const { code, lines } = await up.run(backupCommand, folder);
      expect(code).toBe(1);
      expect(lines.slice(0, 2).sort()).toEqual(
        [`${lost}: it is not in the storage`, `${damaged}: its SHA-256 differs from that of the row`].sort(),
      );
    }
    await stat(join(folder, 'objects', `${damaged}.damaged`));
    await expect(stat(join(folder, 'objects', damaged))).rejects.toMatchObject({ code: 'ENOENT' });
  });

  test('is not put into the folder of another database', async () => {
    const { folder } = await backedUp();
    const other = await openUpkeep();
    // All databases of the tests are copies of one.
    await other.app.database
      .updateTable('nonce_key')
      .set({ key: Buffer.alloc(32, 7) })
      .execute();
    await expect(other.run(backupCommand, folder)).rejects.toThrow('the backup of another database');
    expect(await say(backupCommand, await restored(folder), [folder])).toEqual(DONE);
  });

  test('may follow one that does not say whose it is, and that can be restored', async () => {
    const { up, folder } = await backedUp();
    const path = join(folder, 'manifest.json');
    const { system: _, ...rest } = JSON.parse(await readFile(path, 'utf8')) as Record<string, unknown>;
    await writeFile(path, JSON.stringify(rest));
    await restored(folder);
    expect(await up.run(backupCommand, folder)).toEqual(DONE);
  });

  test('leaves no tables behind each time that it ends for want of room', async () => {
    const { up } = await backedUp();
    const folder = await temporaryFolder();
    await writeFile(join(folder, 'objects'), '');
    for (let i = 0; i < 3; i += 1) await expect(up.run(backupCommand, folder)).rejects.toThrow('ENOTDIR');
    expect((await readdir(folder)).filter((name) => name.startsWith('database-'))).toHaveLength(1);
  });

  test('refuses a folder in which it would remove foreign files', async () => {
    const { up } = await backedUp();
    const foreign = await temporaryFolder();
    await writeFile(join(foreign, 'thesis.pdf'), 'years of work');
    await expect(up.run(backupCommand, foreign)).rejects.toThrow('"thesis.pdf", which is not part of a backup');
    expect(await readdir(foreign)).toEqual(['thesis.pdf']);
    const other = await temporaryFolder();
    await writeFile(join(other, 'manifest.json'), '{"name":"web app"}');
    await expect(up.run(backupCommand, other)).rejects.toThrow('has a format that this version cannot read');
    await expect(up.run(backupCommand, join(foreign, 'thesis.pdf'))).rejects.toThrow('cannot be used');
    // The storage itself, by whatever name.
    const link = join(await temporaryFolder(), 'link');
    await symlink(up.system.dataDir, link);
    for (const folder of [up.system.dataDir, link])
      await expect(up.run(backupCommand, folder)).rejects.toThrow('holds the objects of Inlet');
    const disk = await temporaryFolder();
    await mkdir(join(disk, 'lost+found'));
    for (let i = 0; i < 2; i += 1) expect(await up.run(backupCommand, disk)).toEqual(DONE);
  });
});

describe('a restoration', () => {
  test('replaces what is damaged in the storage', async () => {
    const { key, folder } = await backedUp();
    const elsewhere = await emptySystem();
    const storage = await folderPlace(elsewhere.dataDir).open();
    await storage.put(key, source(bytes(500, 7)), VIDEO);
    expect(await say(restoreCommand, elsewhere, [folder])).toEqual(DONE);
    await isSound(elsewhere);
  });

  test('does not replace a database unasked that holds data, or is in use', async () => {
    const { up, folder } = await backedUp();
    await expect(up.run(restoreCommand, folder)).rejects.toThrow('Stop all Inlet processes first');
    const elsewhere = await restored(folder);
    await expect(say(restoreCommand, elsewhere, [folder])).rejects.toThrow('--replace');
    expect(await say(restoreCommand, elsewhere, [folder, '--replace'])).toEqual(DONE);
    const nothing = say(restoreCommand, elsewhere, [await temporaryFolder()]);
    await expect(nothing).rejects.toThrow('no complete backup');
  });

  test('loses nothing that was stored since it began', async () => {
    const { folder } = await backedUp();
    const elsewhere = await emptySystem();
    const { put } = FolderStorage.prototype;
    vi.spyOn(FolderStorage.prototype, 'put').mockImplementation(async function (this: FolderStorage, ...given) {
      await rows(elsewhere.databaseUrl, "INSERT INTO series (id, title) VALUES ('late', 'late')");
      return put.apply(this, given);
    });
    await expect(say(restoreCommand, elsewhere, [folder])).rejects.toThrow('--replace');
    expect(await rows(elsewhere.databaseUrl, 'SELECT id FROM series')).toEqual([{ id: 'late' }]);
  });

  test.each(['folder', 'S3'])('continues that was killed in an object: %s', async (kind) => {
    const { key, folder } = await backedUp(1, await bucket(kind));
    const elsewhere = await emptySystem(await bucket(kind));
    Object.assign(process.env, elsewhere.env);
    const storage = await loadConfig({ ...elsewhere.env, DATA_DIR: elsewhere.dataDir }).storage.open();
    onTestFinished(() => storage.close());
    await storage.begin(key, { ...VIDEO, expectedBytes: 500 });
    expect(await say(restoreCommand, elsewhere, [folder])).toEqual(DONE);
    expect(await Array.fromAsync(storage.unfinished())).toEqual([]);
    await isSound(elsewhere);
  });

  test.each([
    ['cut off', 'objects.jsonl.gz', (whole: Buffer) => whole.subarray(0, whole.length - 20)],
    ['gone', 'objects.jsonl.gz', () => undefined],
    ['written over', 'events.copy.gz', (whole: Buffer) => Buffer.from(whole).fill(0x55, 12, 40)],
  ])('of a backup of which a file is %s (%s) says so, and restores nothing', async (_, name, damage) => {
    const { folder } = await backedUp(3);
    const tables = (await readdir(folder)).find((each) => each.startsWith('database-')) ?? '';
    const path = join(folder, tables, name);
    const damaged = damage(await readFile(path));
    await (damaged ? writeFile(path, damaged) : rm(path));
    const elsewhere = await emptySystem();
    await expect(say(restoreCommand, elsewhere, [folder])).rejects.toThrow(
      expect.objectContaining({ name: 'BackupError', message: expect.stringContaining(path) }),
    );
    expect(await rows(elsewhere.databaseUrl, 'SELECT FROM events')).toEqual([]);
  });

  test('brings back for a portal what was deleted, and harvested as deleted, after the backup', async () => {
    const up = await openUpkeep();
    const series = await createSeries(up.app);
    const folder = await up.backUp();
    await up.app.request(`/api/series/${series}`, { method: 'DELETE' });
    let { app } = up;
    const portal = new Harvester((path) => app.request(path));
    expect(await portal.catchUp()).toMatchObject([{ kind: 'series-deleted', id: series }]);
    ({ app } = await opened(await restored(folder)));
    expect(await portal.catchUp()).toMatchObject([{ kind: 'series', id: series }]);
  });

  test('brings an upload back that has ended; a client begins one under way again', async () => {
    const { app, admin, close } = await serveApp();
    onTestFinished(close);
    const data = bytes(3000);
    const [whole, half] = [await admin.create(data.length), await admin.create(data.length)];
    expect((await admin.patch(whole, 0, data)).status).toBe(204);
    expect((await admin.patch(half, 0, data.subarray(0, 1000))).status).toBe(204);
    const folder = await temporaryFolder();
    expect(await new Upkeep(app, {}).run(backupCommand, folder)).toEqual(DONE);
    const elsewhere = await restored(folder);
    await isSound(elsewhere);
    const other = (await opened(elsewhere)).app;
    const uploads = JSON.stringify([{ id: whole.split('/').at(-1), field: 'presenter' }]);
    await created(await post(other, [...eventFields(), { name: 'uploads', content: uploads }]));
    const head = await other.request(half, { method: 'HEAD', headers: { 'Tus-Resumable': '1.0.0' } });
    expect([404, 410]).toContain(head.status);
  });

  test('brings an object back once that two rows name', async () => {
    const up = await openUpkeep();
    const data = bytes(3_000_000);
    const event_id = await up.upload(data);
    const object_key = await up.trackOf(event_id);
    const columns = up.app.database.selectFrom('tracks').select(['size', 'sha256']);
    const { size, sha256 } = await columns.executeTakeFirstOrThrow();
    await up.app.database
      .insertInto('attachments')
      .values({
        ...{ id: crypto.randomUUID(), event_id, flavor: 'notes/source', filename: 'notes.pdf' },
        ...{ mediatype: 'application/pdf', object_key, size, sha256: sha256 ?? '' },
      })
      .execute();
    const folder = await temporaryFolder();
    for (const options of [[], ['--digests']]) expect(await up.run(backupCommand, ...options, folder)).toEqual(DONE);
    expect((await readFile(join(folder, 'objects', object_key))).equals(data)).toBe(true);
    await isSound(await restored(folder));
  });

  test('brings an object back all the same that is not as its row says, and reports it', async () => {
    const up = await openUpkeep();
    const key = await up.trackOf(await up.upload());
    await up.setTracks({ size: 5 });
    const folder = await temporaryFolder();
    expect((await up.run(backupCommand, folder)).code).toBe(1);
    const elsewhere = await emptySystem();
    const { code, lines } = await say(restoreCommand, elsewhere, [folder]);
    expect([code, lines[0]]).toEqual([1, expect.stringMatching(`^${key}: `)]);
    expect((await say(verifyCommand, elsewhere)).lines).toEqual([expect.stringMatching(`^size ${key} `)]);
    const storage = await folderPlace(elsewhere.dataDir).open();
    const brought = Buffer.concat(await Array.fromAsync(await storage.get(key)));
    expect(brought.equals(bytes(1000))).toBe(true);
  });
});
