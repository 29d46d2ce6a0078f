import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { isObjectKey, requireObjectKey } from '../../storage/keys.ts';
import type { ObjectStorage } from '../../storage/port.ts';
import { isUnreadable, sumOf } from '../digests.ts';
import type { OwnedObject } from '../owned-objects.ts';

/** What is known of an object that a backup has. */
export type BackedUpObject = Pick<OwnedObject, 'key' | 'size' | 'sha256' | 'mediatype'>;

const UNKNOWN_TYPE = 'application/octet-stream';

/** Where a backup keeps an object. */
export function backupPath(folder: string, key: string): string {
  return join(folder, 'objects', requireObjectKey(key));
}

/**
 * Stores an object from a backup. Nothing is stored that is not what the row tells of.
 *
 * @param under is asked for the key to store it under when it is known to be right
 * @returns whether the backup has it as it should be
 */
export async function storeFromBackup(
  folder: string,
  { key, size, sha256, mediatype }: BackedUpObject,
  storage: Pick<ObjectStorage, 'put'>,
  under: () => Promise<string>,
): Promise<boolean> {
  if (!isObjectKey(key)) return false;
  const file = await open(backupPath(folder, key), 'r').catch(() => undefined);
  if (!file) return false;
  const read = () => file.createReadStream({ autoClose: false, start: 0 });
  try {
    if ((await file.stat()).size !== size) return false;
    if (sha256 !== null && (await digestOfFile(read())) !== sha256) return false;
    await storage.put(await under(), read(), { mediatype: mediatype ?? UNKNOWN_TYPE, expectedBytes: size });
    return true;
  } finally {
    await file.close();
  }
}

/** The SHA-256 of a file, in hexadecimal; undefined for one that the disk does not give. */
export async function digestOfFile(bytes: AsyncIterable<Uint8Array>): Promise<string | undefined> {
  return sumOf(bytes).catch((error) => {
    if (isUnreadable(error)) return undefined;
    throw error;
  });
}
