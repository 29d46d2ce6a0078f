import { Readable } from 'node:stream';
import type { Database } from '../../database/kysely.ts';
import { kindOf, objectKey } from '../../storage/keys.ts';
import { ObjectNotFound, type ObjectStorage } from '../../storage/port.ts';
import { digestOf, type Reading } from '../digests.ts';
import type { OwnedObject } from '../owned-objects.ts';
import type { Finding } from '../verify/finding.ts';
import { giveKey } from './give-key.ts';
import { keepForNow } from './keep.ts';

/** Of more objects that are missing or damaged it is not looked up at once which others they might be. */
const MOST = 10_000;

/** What rows do not find under their keys, and whose digest is known. */
export interface SoughtObjects {
  /** By size and SHA-256. */
  bySize: Map<number, Map<string, Finding[]>>;
  /** Whether these are all. */
  complete: boolean;
}

/** Which objects could be found under another key. */
export async function soughtObjects(findings: AsyncIterable<Finding>): Promise<SoughtObjects> {
  const bySize: SoughtObjects['bySize'] = new Map();
  let count = 0;
  for await (const finding of findings) {
    const { kind, owner } = finding;
    if (!['missing', 'size', 'digest'].includes(kind) || !owner?.sha256) continue;
    count += 1;
    if (count > MOST) return { bySize, complete: false };
    const alike = bySize.get(owner.size) ?? new Map<string, Finding[]>();
    bySize.set(owner.size, alike.set(owner.sha256, [...(alike.get(owner.sha256) ?? []), finding]));
  }
  return { bySize, complete: true };
}

/**
 * Gives a row its object back that stands under another key, which its digest tells. Where that is the key of another
 * row, it gets a copy.
 *
 * @param sought loses what has been found
 * @returns the row
 */
export async function relink(
  { key, size, owner: holder }: Finding,
  { bySize }: SoughtObjects,
  parts: { database: Database; storage: Reading & Pick<ObjectStorage, 'put'> },
): Promise<OwnedObject | undefined> {
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
  return owner;
}

/** @returns the key of the copy, which is on the ledger until a row names it; undefined when the object has gone */
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
  await storage.put(copy, Readable.from(bytes), { mediatype, expectedBytes: size });
  return copy;
}
