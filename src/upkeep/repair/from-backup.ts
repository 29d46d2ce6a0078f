import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { requireObjectKey } from '../../storage/keys.ts';
import type { ObjectStorage } from '../../storage/port.ts';
import { beginSha256 } from '../../storage/sha256/sha256.ts';
import type { OwnedObject } from '../owned-objects.ts';

/** Where a backup keeps an object. */
export function backupPath(folder: string, key: string): string {
  return join(folder, 'objects', requireObjectKey(key));
}

/**
 * Stores an object anew from a backup. Nothing is stored that is not what the row tells of.
 *
 * @returns whether the backup has it as it should be
 */
export async function storeFromBackup(
  folder: string,
  { key, size, sha256, mediatype }: Pick<OwnedObject, 'key' | 'size' | 'sha256' | 'mediatype'>,
  storage: Pick<ObjectStorage, 'put' | 'remove'>,
): Promise<boolean> {
  const file = await open(backupPath(folder, key), 'r').catch(() => undefined);
  if (!file) return false;
  try {
    if ((await file.stat()).size !== size) return false;
    // Read twice: what is there already is replaced by what is known to be right only.
    if (sha256 !== null && (await sumOf(file.createReadStream({ autoClose: false, start: 0 }))) !== sha256)
      return false;
    await storage.remove([key]);
    const body = file.createReadStream({ autoClose: false, start: 0 });
    await storage.put(key, body, { mediatype: mediatype ?? 'application/octet-stream', expectedBytes: size });
    return true;
  } finally {
    await file.close();
  }
}

/** The SHA-256 of a stream, in hexadecimal. */
export async function sumOf(stream: AsyncIterable<Uint8Array>): Promise<string> {
  const sum = beginSha256();
  for await (const chunk of stream) await sum.add(chunk);
  return sum.digest();
}
