import type { Database, Transaction } from '../../database/kysely.ts';
import type { ObjectStorage } from '../../storage/port.ts';
import { digestOf } from '../digests.ts';
import type { OwnedObject } from '../owned-objects.ts';
import type { Finding } from '../verify/finding.ts';

/** Of more objects that are missing it is not looked up which others they might be. */
const MOST = 10_000;

/** What is missing, by size and SHA-256. */
export type MissingObjects = Map<number, Map<string, OwnedObject>>;

/** Which of the missing objects could be found under another key: those whose digest is known. */
export async function missingObjects(findings: AsyncIterable<Finding>): Promise<MissingObjects> {
  const missing: MissingObjects = new Map();
  let count = 0;
  for await (const { kind, owner } of findings) {
    if (kind !== 'missing' || !owner?.sha256) continue;
    count += 1;
    if (count > MOST) return new Map();
    const alike = missing.get(owner.size) ?? new Map<string, OwnedObject>();
    missing.set(owner.size, alike.set(owner.sha256, owner));
  }
  return missing;
}

/**
 * Gives a row its object back that stands under another key, which its digest tells.
 *
 * @param missing loses the row that has its object again
 * @returns that row
 */
export async function relink(
  { key, size }: Finding,
  missing: MissingObjects,
  { database, storage }: { database: Database; storage: Pick<ObjectStorage, 'get'> },
): Promise<OwnedObject | undefined> {
  const alike = size === null ? undefined : missing.get(size);
  if (!alike || alike.size === 0) return undefined;
  const sha256 = await digestOf(storage, key);
  const owner = sha256 === undefined ? undefined : alike.get(sha256);
  if (!owner?.sha256) return undefined;
  await database.transaction().execute((trx) => giveKey(trx, owner, key));
  alike.delete(owner.sha256);
  return owner;
}

async function giveKey(trx: Transaction, { table, id, key: from }: OwnedObject, key: string): Promise<void> {
  await trx
    .updateTable(table)
    .set({ object_key: key })
    .where('id', '=', id)
    .where('object_key', '=', from)
    .execute();
  // Those of drafts and uploads stand there, too.
  await trx.updateTable('staging').set({ object_key: key }).where('object_key', '=', from).execute();
}
