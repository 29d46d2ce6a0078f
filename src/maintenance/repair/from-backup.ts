import type { Database } from '#platform/database/kysely.ts';
import { type ObjectStorage, StorageRefused } from '#platform/storage/port.ts';
import { storeFromBackup } from '../backup/backed-up.ts';
import { contentOf, type Listed, lookUp } from '../backup/listed.ts';
import type { OwnedObject } from '../owned-objects.ts';
import type { Finding } from '../verify/finding.ts';
import { giveKey } from './give-key.ts';
import { keepForNow } from './keep.ts';
import { keyLike } from './key-like.ts';
import { eachSought, type SoughtObjects } from './sought.ts';

/** A backup that objects are taken from, and what it has of those that are sought. */
export interface BackupSource {
  folder: string;
  listed: Listed;
}

/** Opens a backup. @throws when it is damaged */
export async function openBackup(folder: string, sought: SoughtObjects): Promise<BackupSource> {
  const keys = new Set<string>();
  const contents = new Set<string>();
  for (const { key, owner } of eachSought(sought)) {
    keys.add(key);
    if (owner && owner.sha256 !== null) contents.add(contentOf(owner));
  }
  return { folder, listed: await lookUp(folder, keys, contents) };
}

/**
 * Stores an object anew that a row misses. It gets another key: what is damaged may be better than nothing, until the other
 * one is there.
 *
 * @returns what was done; undefined when the backup does not have it as it should be, or the storage takes none
 */
export async function takeFromBackup(
  { folder, listed }: BackupSource,
  { size }: Finding,
  owner: OwnedObject,
  { database, storage }: { database: Database; storage: Pick<ObjectStorage, 'put'> },
): Promise<string | undefined> {
  const before = listed.byKey.get(owner.key);
  const sha256 = owner.sha256 ?? (before?.size === owner.size ? before.sha256 : null);
  // The row may have had another key then.
  const other = owner.sha256 === null ? undefined : listed.byContent.get(contentOf(owner))?.key;
  const key = keyLike(owner.key, other);
  const onLedger = async () => {
    await keepForNow(database, key);
    return key;
  };
  const stored = (named: string) =>
    storeFromBackup(folder, { ...owner, sha256, key: named }, storage, onLedger).catch((error) => {
      // That keeps nothing else from being mended.
      if (error instanceof StorageRefused) return false;
      throw error;
    });
  const isStored = (await stored(owner.key)) || (other !== undefined && (await stored(other)));
  if (!isStored || !(await giveKey(database, owner, key, sha256))) return undefined;
  if (size !== null) await keepForNow(database, owner.key);
  return 'stored anew from the backup';
}

/**
 * Gives a row the digest back that it had in the backup, where the object still has it.
 *
 * @returns what was done; undefined when that is not so
 */
export async function correctDigest(
  { listed }: BackupSource,
  { key, sha256, size }: Finding,
  { table, id }: OwnedObject,
  database: Database,
): Promise<string | undefined> {
  const before = listed.byKey.get(key);
  if (sha256 === undefined || before?.sha256 !== sha256 || before.size !== size) return undefined;
  await database
    .updateTable(table)
    .set({ sha256 })
    .where('id', '=', id)
    .where('object_key', '=', key)
    .execute();
  return 'it is what it was in the backup; the SHA-256 in the database was corrected';
}
