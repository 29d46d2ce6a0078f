import { Readable } from 'node:stream';
import type { Database } from '#platform/database/kysely.ts';
import { kindOf, objectKey } from '#platform/storage/keys.ts';
import { ObjectNotFound, type ObjectStorage, StorageRefused } from '#platform/storage/port.ts';
import { digestOf, type Reading } from '../digests.ts';
import type { OwnedObject } from '../owned-objects.ts';
import type { Finding } from '../verify/finding.ts';
import { giveKey } from './give-key.ts';
import { keepForNow } from './keep.ts';
import type { SoughtObjects } from './sought.ts';

/**
 * Gives a row its object back that stands under another key, which its digest tells. Where that is the key of another
 * row, it gets a copy.
 *
 * @param sought loses what has been found
 * @returns what had been found of the row
 */
export async function relink(
  { key, size, owner: holder }: Pick<Finding, 'key' | 'size' | 'owner'>,
  { bySize }: SoughtObjects,
  parts: { database: Database; storage: Reading & Pick<ObjectStorage, 'put'> },
): Promise<Finding | undefined> {
  const alike = size === null ? undefined : bySize.get(size);
  if (!alike || alike.size === 0) return undefined;
  // A verification that went on after a pause may have read either of them days ago.
  const found = await digestOf(parts.storage, key);
  const [wanted, ...others] = (found !== undefined && alike.get(found)) || [];
  if (!wanted?.owner?.sha256) return undefined;
  const { owner } = wanted;
  if ((await digestOf(parts.storage, owner.key)) === owner.sha256) return undefined;
  const given = holder ? await copyOf(key, owner, parts) : key;
  if (given === undefined || !(await giveKey(parts.database, owner, given))) return undefined;
  if (wanted.kind !== 'missing') await keepForNow(parts.database, owner.key);
  if (others.length > 0) alike.set(wanted.owner.sha256, others);
  else alike.delete(wanted.owner.sha256);
  return wanted;
}

/** @returns the key of the copy, which is on the ledger until a row names it; undefined when the object has gone, or the storage takes none */
async function copyOf(
  key: string,
  { mediatype, size }: OwnedObject,
  { database, storage }: { database: Database; storage: Pick<ObjectStorage, 'get' | 'put'> },
): Promise<string | undefined> {
  const copy = objectKey(kindOf(key));
  await keepForNow(database, copy);
  const bytes = await storage.get(key).catch((error) => {
    if (error instanceof ObjectNotFound) return undefined;
    throw error;
  });
  if (!bytes) return undefined;
  return storage.put(copy, Readable.from(bytes), { mediatype, expectedBytes: size }).then(
    () => copy,
    (error) => {
      // That keeps nothing else from being mended.
      if (error instanceof StorageRefused) return undefined;
      throw error;
    },
  );
}
