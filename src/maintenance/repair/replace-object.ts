import type { Database } from '#platform/database/kysely.ts';
import { isObjectKey, kindOf, objectKey } from '#platform/storage/keys.ts';
import { type ObjectStorage, StorageRefused } from '#platform/storage/port.ts';
import { type BackedUpObject, storeFromBackup } from '../backup/backed-up.ts';
import { contentOf } from '../backup/objects-list.ts';
import { UNREADABLE } from '../digests.ts';
import type { OwnedObject } from '../owned-objects.ts';
import { isLasting } from '../verify/examine.ts';
import type { Finding } from '../verify/finding.ts';
import { keepOrphan } from './orphan-retention.ts';

/** A backup to take objects from. */
export interface BackupSource {
  folder: string;
  /** The objects that it lists, by key and by content (`findInBackup`). */
  listed: ReadonlyMap<string, BackedUpObject>;
}

/**
 * Stores the object of a row again from a backup, under a new key that the row names from then on. Damaged bytes stay under
 * the former key until the sweep removes them.
 *
 * @returns false when the backup does not have what the row describes, or the storage refuses it
 */
export async function replaceFromBackup(
  { folder, listed }: BackupSource,
  finding: Finding,
  owner: OwnedObject,
  { database, storage }: { database: Database; storage: Pick<ObjectStorage, 'put'> },
): Promise<boolean> {
  const former = listed.get(owner.key);
  const sha256 = owner.sha256 ?? (former?.size === owner.size ? former.sha256 : null);
  // The object can be read, and nothing says that the bytes of the backup are better.
  if (finding.kind === 'digest' && finding.sha256 !== UNREADABLE && sha256 === null) return false;
  // The row may have had another key when the backup was taken.
  const alike = owner.sha256 === null ? undefined : listed.get(contentOf(owner));
  for (const source of [former, alike]) {
    if (!source || !isObjectKey(source.key)) continue;
    const key = objectKey(kindOf(source.key));
    const expected = { ...owner, sha256, key: source.key };
    const onLedger = async () => {
      await keepOrphan(database, key);
      return key;
    };
    const isStored = await storeFromBackup(folder, expected, storage, onLedger).catch((error) => {
      // The other findings can be repaired all the same.
      if (error instanceof StorageRefused) return false;
      throw error;
    });
    if (isStored) return nameObject(database, owner, { key, sha256, isFormerStored: finding.size !== null });
  }
  return false;
}

/** Has a row name another object. @returns false when the row has been deleted or names another one already */
async function nameObject(
  database: Database,
  owner: OwnedObject,
  { key, sha256, isFormerStored }: { key: string; sha256: string | null; isFormerStored: boolean },
): Promise<boolean> {
  return database.transaction().execute(async (trx) => {
    const { numUpdatedRows } = await trx
      .updateTable(owner.table)
      .set({ object_key: key, sha256 })
      .where('id', '=', owner.id)
      .where('object_key', '=', owner.key)
      .executeTakeFirst();
    if (numUpdatedRows === 0n) return false;
    await trx.deleteFrom('staging').where('object_key', '=', key).execute();
    if (isLasting(owner)) await trx.deleteFrom('staging').where('object_key', '=', owner.key).execute();
    // Drafts and uploads keep their entry of the ledger.
    else await trx.updateTable('staging').set({ object_key: key }).where('object_key', '=', owner.key).execute();
    if (isFormerStored) await keepOrphan(trx, owner.key);
    return true;
  });
}
