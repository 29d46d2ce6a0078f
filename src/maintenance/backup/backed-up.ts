import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { isObjectKey, requireObjectKey } from '#platform/storage/keys.ts';
import type { ObjectStorage } from '#platform/storage/port.ts';
import { isUnreadable, sumOf } from '../digests.ts';
import type { OwnedObject } from '../owned-objects.ts';

/** What is known of an object that a backup has. */
export type BackedUpObject = Pick<OwnedObject, 'key' | 'size' | 'sha256' | 'mediatype'>;

const UNKNOWN_TYPE = 'application/octet-stream';

/** Where a backup keeps an object. */
export function backupPath(folder: string, key: string): string {
  return join(folder, 'objects', requireObjectKey(key));
}

/** Where a backup keeps what it was given in the place of an object, and what is not as the database told of it. */
export function damagedPath(folder: string, key: string): string {
  return `${backupPath(folder, key)}.damaged`;
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

/**
 * Stores what a backup has of an object, and be it not what the row tells of: it may be the row that is wrong.
 *
 * @param under is asked for the key to store it under
 * @returns whether the backup has anything of it that can be read
 */
export async function storeAsItIs(
  folder: string,
  { key, mediatype }: BackedUpObject,
  storage: Pick<ObjectStorage, 'put'>,
  under: () => Promise<string>,
): Promise<boolean> {
  if (!isObjectKey(key)) return false;
  for (const path of [backupPath(folder, key), damagedPath(folder, key)]) {
    const file = await open(path, 'r').catch(() => undefined);
    if (!file) continue;
    const read = () => file.createReadStream({ autoClose: false, start: 0 });
    try {
      const { size: expectedBytes } = await file.stat();
      if ((await digestOfFile(read())) === undefined) continue;
      await storage.put(await under(), read(), { mediatype: mediatype ?? UNKNOWN_TYPE, expectedBytes });
      return true;
    } finally {
      await file.close();
    }
  }
  return false;
}

/** The SHA-256 of a file, in hexadecimal; undefined for one that the disk does not give. */
export async function digestOfFile(bytes: AsyncIterable<Uint8Array>): Promise<string | undefined> {
  return sumOf(bytes).catch((error) => {
    if (isUnreadable(error)) return undefined;
    throw error;
  });
}
