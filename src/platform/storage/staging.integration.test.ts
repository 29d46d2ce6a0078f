import { randomUUID } from 'node:crypto';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { sql } from 'kysely';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { bytes, source } from '#test/support/bytes.ts';
import { databaseForThisFile } from '#test/support/database.ts';
import { temporaryFolder } from '#test/support/folders.ts';
import { FOR_AGES } from '#test/support/watched.ts';
import type { Transaction } from '../database/kysely.ts';
import { silentLogger } from '../telemetry/log.ts';
import { FolderStorage } from './folder.ts';
import { objectKey } from './object-keys.ts';
import { StagingLedger } from './staging.ts';
import { releaseObjects, StagingExpired } from './staging-sweep.ts';

/** A folder whose removals can be held up. */
class SlowFolder extends FolderStorage {
  gate: Promise<unknown> = Promise.resolve();
  onRemove = () => {};
  override async remove(keys: readonly string[]): Promise<void> {
    this.onRemove();
    await this.gate;
    await super.remove(keys);
  }
}

const db = databaseForThisFile();
let folder: string;
let storage: SlowFolder;
let ledger: StagingLedger;
beforeEach(async () => {
  folder = await temporaryFolder();
  storage = await new SlowFolder(folder).open();
  ledger = ledgerOf('one process');
});
afterEach(async () => {
  ledger.close();
  await db.database.deleteFrom('staging').execute();
});

const ledgerOf = (owner: string) => new StagingLedger({ database: db.database, storage, owner, log: silentLogger });

async function stageObject(by = ledger): Promise<string> {
  const key = await by.stage('track');
  await putBytes(key);
  return key;
}

const transaction = <T>(work: (trx: Transaction) => Promise<T>) => db.database.transaction().execute(work);
const expire = (seconds = 1) =>
  db.database
    .updateTable('staging')
    .set({ expires_at: sql<Date>`now() - make_interval(secs => ${seconds})` })
    .execute();
const commit = (keys: string[], by = ledger) => transaction((trx) => by.commit(trx, keys));
const entries = () => db.database.selectFrom('staging').selectAll().execute();
const release = (...keys: string[]) => transaction((trx) => releaseObjects(trx, keys));
const putBytes = (key: string) => storage.put(key, source(bytes(1)), { mediatype: 'video/mp4' });
const stored = async () => (await Array.fromAsync(storage.list(''))).map(({ key }) => key);

/** Expects neither an object nor an entry. */
async function expectNothing(): Promise<void> {
  expect(await stored()).toEqual([]);
  expect(await entries()).toEqual([]);
}

/** Discards while the database does not answer. */
async function discardUnheard(key: string): Promise<void> {
  await sql`ALTER TABLE staging RENAME TO staging_away`.execute(db.database);
  await ledger.discard([key]);
  await sql`ALTER TABLE staging_away RENAME TO staging`.execute(db.database);
}

test('a committed object leaves the ledger and stays', async () => {
  const key = await stageObject();
  await commit([key, key]);
  expect(await entries()).toEqual([]);
  await expire();
  await ledger.sweep(FOR_AGES);
  expect(await stored()).toEqual([key]);
});

test('a commit that rolls back leaves the object on the ledger', async () => {
  const key = await stageObject();
  const failing = transaction(async (trx) => {
    await ledger.commit(trx, [key]);
    throw new Error('constraint');
  });
  await expect(failing).rejects.toThrow('constraint');
  expect(await entries()).toMatchObject([{ object_key: key, owner: 'one process' }]);
});

test('the objects of a silent process are removed', async () => {
  const gone = ledgerOf('killed process');
  const keys = [await stageObject(gone), await gone.stage('element')];
  gone.close();
  await expire();
  expect(await ledger.sweep(FOR_AGES)).toBe(2);
  expect(await stored()).toEqual([]);
  // What the process may have stored after all goes with the second sweep, and the entry with it.
  expect((await entries()).map((entry) => entry.object_key).sort()).toEqual(keys.sort());
  await putBytes(keys[0] ?? '');
  expect(await ledger.sweep(FOR_AGES)).toBe(0);
  await expire();
  await ledger.sweep(FOR_AGES);
  await expectNothing();
});

test('an object that may still be stored is removed again later', async () => {
  const key = await ledger.stage('track');
  ledger.doubt(key);
  await ledger.discard([key]);
  await putBytes(key);
  await expire();
  expect(await ledger.sweep(undefined)).toBe(1);
  await putBytes(key);
  expect(await ledger.sweep(undefined)).toBe(0);
  await expire();
  expect(await ledger.sweep(undefined)).toBe(1);
  await expectNothing();
});

test('a removal that failed is none: what is doubtful is removed twice', async () => {
  const gone = ledgerOf('killed process');
  const key = await stageObject(gone);
  gone.close();
  storage.gate = Promise.reject(new Error('the storage does not answer'));
  storage.gate.catch(() => undefined);
  await expire();
  expect(await ledger.sweep(FOR_AGES)).toBe(0);
  storage.gate = Promise.resolve();
  await expire();
  expect(await ledger.sweep(FOR_AGES)).toBe(1);
  expect(await entries()).toMatchObject([{ object_key: key }]);
  await expire();
  expect(await ledger.sweep(FOR_AGES)).toBe(1);
  expect(await entries()).toEqual([]);
});

test('what a killed process left of a put is removed', async () => {
  const key = await ledger.stage('track');
  const controller = new AbortController();
  const body = source(bytes(1000), 'stall');
  const putting = storage.put(key, body, { mediatype: 'video/mp4', signal: controller.signal });
  await expect.poll(() => Array.fromAsync(storage.unfinished())).toEqual([key]);
  await expire();
  await ledger.sweep(FOR_AGES);
  expect(await Array.fromAsync(storage.unfinished())).toEqual([]);
  controller.abort(new Error('end of test'));
  await expect(putting).rejects.toThrow('end of test');
});

test('an upload under way in another process is left alone', async () => {
  const other = ledgerOf('another process');
  const key = await stageObject(other);
  expect(await ledger.sweep(FOR_AGES)).toBe(0);
  await ledger.discard([key]);
  expect(await stored()).toEqual([key]);
  await commit([key], other);
  other.close();
});

test('a process cannot commit what another one has staged', async () => {
  const key = await stageObject();
  await expect(commit([key], ledgerOf('another process'))).rejects.toThrow(StagingExpired);
  expect(await entries()).toHaveLength(1);
});

test('an entry whose answer was lost is not kept alive by the process that entered it', async () => {
  const known = await ledger.stage('track');
  const expires_at = new Date(Date.now() + 5_000);
  const unknown = objectKey('track');
  await db.database.insertInto('staging').values({ object_key: unknown, owner: 'one process', expires_at }).execute();
  await db.database.updateTable('staging').set({ expires_at }).execute();
  await ledger.renew();
  const kept = (await entries()).filter((entry) => entry.expires_at > expires_at);
  expect(kept.map(({ object_key }) => object_key)).toEqual([known]);
});

test('a commit that takes long does not keep other entries from being renewed', async () => {
  const [slow, other] = [await stageObject(), await stageObject()];
  await expire();
  await transaction(async (trx) => {
    await ledger.commit(trx, [slow]);
    await ledger.renew();
  });
  expect(await ledger.sweep(FOR_AGES)).toBe(0);
  expect((await stored()).sort()).toEqual([slow, other].sort());
});

test('a commit after the sweep fails and rolls its transaction back', async () => {
  const key = await stageObject();
  await expire();
  await ledger.sweep(FOR_AGES);
  const committing = transaction(async (trx) => {
    await trx.insertInto('series').values({ id: 'swept' }).execute();
    await ledger.commit(trx, [key]);
  });
  await expect(committing).rejects.toThrow(StagingExpired);
  expect(await db.database.selectFrom('series').selectAll().execute()).toEqual([]);
});

test('a commit while the sweep removes the object fails', async () => {
  const key = await stageObject();
  await expire();
  const removal = Promise.withResolvers<void>();
  const removing = new Promise<void>((resolve) => {
    storage.onRemove = resolve;
  });
  storage.gate = removal.promise;
  const sweeping = ledger.sweep(FOR_AGES);
  await removing;
  await expect(commit([key])).rejects.toThrow(StagingExpired);
  removal.resolve();
  expect(await sweeping).toBe(1);
});

test('of commits and sweeps at once, each object is had by one', async () => {
  const keys = await Promise.all(Array.from({ length: 40 }, () => stageObject()));
  await expire();
  const [first, racing, late] = [keys.slice(0, 10), keys.slice(10, 30), keys.slice(30)];
  const outcomes = await transaction(async (trx) => {
    await ledger.commit(trx, first);
    const [committed] = await Promise.all([
      Promise.allSettled(racing.map((key) => commit([key]))),
      ledger.sweep(FOR_AGES),
      ledgerOf('another process').sweep(FOR_AGES),
    ]);
    return committed;
  });
  await expect(commit(late)).rejects.toThrow(StagingExpired);
  const won = racing.filter((_, i) => outcomes[i]?.status === 'fulfilled');
  expect((await stored()).sort()).toEqual([...first, ...won].sort());
});

test('discarded objects are removed immediately, staged or released, but not those that were committed', async () => {
  const [committed, released] = [await stageObject(), objectKey('track')];
  await commit([committed]);
  await putBytes(released);
  await release(released);
  await ledger.discard([await stageObject(), await ledger.stage('element'), committed, released]);
  expect(await stored()).toEqual([committed]);
  expect(await entries()).toEqual([]);
});

test('while a commit is under way a sweep leaves the object alone, and discarding waits for its outcome', async () => {
  const key = await stageObject();
  await expire();
  let discarding: Promise<void> | undefined;
  await transaction(async (trx) => {
    await ledger.commit(trx, [key]);
    expect(await ledgerOf('another process').sweep(FOR_AGES)).toBe(0);
    discarding = ledger.discard([key]);
    await sql`SELECT pg_sleep(0.2)`.execute(trx);
  });
  await discarding;
  expect(await ledger.sweep(FOR_AGES)).toBe(0);
  expect(await stored()).toEqual([key]);
});

test('objects discarded while the database does not answer are swept when they expire', async () => {
  const key = await stageObject();
  await discardUnheard(key);
  expect(await stored()).toEqual([key]);
  await expire();
  await ledger.renew();
  expect(await ledger.sweep(FOR_AGES)).toBe(1);
  expect(await stored()).toEqual([]);
});

test('one of them that may be stored late is removed again', async () => {
  const key = await stageObject();
  ledger.doubt(key);
  await discardUnheard(key);
  await expire();
  await ledger.sweep(FOR_AGES);
  await putBytes(key);
  await expire();
  await ledger.sweep(FOR_AGES);
  await expectNothing();
});

test('released objects are removed, and only after the transaction that releases them', async () => {
  const key = objectKey('track');
  await putBytes(key);
  await transaction(async (trx) => {
    await releaseObjects(trx, [key]);
    expect(await ledger.sweep(FOR_AGES)).toBe(0);
  });
  expect(await stored()).toEqual([key]);
  expect(await ledger.sweep(FOR_AGES)).toBe(1);
  await expectNothing();
});

test('any number of objects is released, and discarded', async () => {
  vi.spyOn(storage, 'remove').mockResolvedValue();
  const keys = Array.from({ length: 66_000 }, () => objectKey('track'));
  await release(...keys);
  expect(await entries()).toHaveLength(keys.length);
  await ledger.discard(keys);
  await expectNothing();
});

test('an object that cannot be removed keeps no other from being, and is tried again', async () => {
  const stuck = `track/00/00${randomUUID().slice(2)}`;
  // A folder in the place of a file cannot be removed as one.
  await mkdir(join(folder, stuck, 'in the way'), { recursive: true });
  const keys = Array.from({ length: 60 }, () => objectKey('track'));
  await release(stuck, ...keys);
  await ledger.sweep(FOR_AGES);
  await ledger.sweep(FOR_AGES);
  expect(await entries()).toMatchObject([{ object_key: stuck }]);
  await rm(join(folder, stuck), { recursive: true });
  await expire();
  await ledger.sweep(FOR_AGES);
  expect(await entries()).toEqual([]);
});
