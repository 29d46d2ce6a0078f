import type { Database } from '#platform/database/kysely.ts';
import type { OwnedObject } from '../owned-objects.ts';
import { isLasting } from '../verify/examine.ts';

/**
 * Has a row name another object, which the ledger lets go of.
 *
 * @param sha256 of the object, where the row does not know it
 * @returns whether the row is there and named what it did
 */
export async function giveKey(
  database: Database,
  owner: Pick<OwnedObject, 'table' | 'id' | 'key'>,
  key: string,
  sha256?: string | null,
): Promise<boolean> {
  return database.transaction().execute(async (trx) => {
    const { numUpdatedRows } = await trx
      .updateTable(owner.table)
      .set({ object_key: key, ...(sha256 != null && { sha256 }) })
      .where('id', '=', owner.id)
      .where('object_key', '=', owner.key)
      .executeTakeFirst();
    if (numUpdatedRows === 0n) return false;
    await trx.deleteFrom('staging').where('object_key', '=', key).execute();
    if (isLasting(owner)) {
      await trx.deleteFrom('staging').where('object_key', '=', owner.key).execute();
      return true;
    }
    // Those of drafts and uploads stand there, too.
    await trx.updateTable('staging').set({ object_key: key }).where('object_key', '=', owner.key).execute();
    return true;
  });
}
