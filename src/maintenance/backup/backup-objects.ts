import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { isObjectKey, requireObjectKey } from '#platform/storage/keys.ts';
import type { ObjectStorage } from '#platform/storage/port.ts';
import { beginSha256 } from '#platform/storage/thread/sha256.ts';
import { forEachOf, oneByKey } from '../concurrency.ts';
import { isUnreadable, type Reading, readObject, sumOf, UNREADABLE } from '../digests.ts';
import type { OwnedObject } from '../owned-objects.ts';

/** What is known of an object that a backup has. */
export type BackedUpObject = Pick<OwnedObject, 'key' | 'size' | 'sha256' | 'mediatype'>;

const UNKNOWN_TYPE = 'application/octet-stream';

/** Where a backup keeps an object. */
function backupPath(folder: string, key: string): string {
  return join(folder, 'objects', requireObjectKey(key));
}

/** Where a backup keeps what it was given in the place of an object, and what is not as the database told of it. */
function damagedPath(folder: string, key: string): string {
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
async function digestOfFile(bytes: AsyncIterable<Uint8Array>): Promise<string | undefined> {
  return sumOf(bytes).catch((error) => {
    if (isUnreadable(error)) return undefined;
    throw error;
  });
}

const AT_ONCE = 4;
/** Of what is being copied, and of what was not as it should be: the next backup tries it again. */
const OTHERS = /\.(new|damaged)$/;

/** An object that the backup does not have as the database tells of it. */
export interface LackingObject {
  key: string;
  reason: string;
}

/**
 * Copies objects into a backup, but for those that an earlier one has: no object ever changes.
 *
 * @param digests whether what an earlier one has is read, and copied anew where it is not what the database tells of
 * @param onBytes is told of bytes that are in the backup; of fewer, when a copy has to begin anew
 * @returns what the backup lacks
 */
export async function copyObjects(
  objects: AsyncIterable<BackedUpObject>,
  folder: string,
  storage: Reading,
  { signal, digests, onBytes }: { signal: AbortSignal; digests: boolean; onBytes: (bytes: number) => void },
): Promise<LackingObject[]> {
  const lacking: LackingObject[] = [];
  const copy = async (object: BackedUpObject) => {
    if (!isObjectKey(object.key)) return lacking.push({ key: object.key, reason: 'that is no key of an object' });
    const path = backupPath(folder, object.key);
    const there = await stat(path).catch(() => undefined);
    if (there?.size === object.size && (!digests || (await isSound(path, object)))) return onBytes(object.size);
    const reason = await copyObject(object, folder, storage, { signal, onBytes });
    if (reason) lacking.push({ key: object.key, reason });
  };
  await forEachOf(objects, oneByKey(copy), { atOnce: AT_ONCE, signal });
  return lacking;
}

async function isSound(path: string, { sha256 }: BackedUpObject): Promise<boolean> {
  return sha256 === null || (await digestOfFile(createReadStream(path))) === sha256;
}

/** @returns what is wrong with the object, which is kept beside the others then */
async function copyObject(
  { key, size, sha256 }: BackedUpObject,
  folder: string,
  storage: Reading,
  { signal, onBytes }: { signal: AbortSignal; onBytes: (bytes: number) => void },
): Promise<string | undefined> {
  const path = backupPath(folder, key);
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  // The disk of the backup has faults of its own, which end all of it.
  const write = (bytes: AsyncIterable<Uint8Array>) => writeSummed(`${path}.new`, bytes, { signal, onBytes });
  const copied = await readObject(storage, key, write, signal);
  if (copied === undefined) return 'it is not in the storage';
  if (copied === UNREADABLE) return 'it cannot be read';
  const isOther = sha256 !== null && copied.sha256 !== sha256;
  const reason =
    copied.size === size ? isOther && 'its SHA-256 is another one' : `it has ${copied.size} bytes instead of ${size}`;
  await rename(`${path}.new`, reason ? damagedPath(folder, key) : path);
  return reason || undefined;
}

/** @returns what has been written; nothing is left of what fails */
async function writeSummed(
  path: string,
  bytes: AsyncIterable<Uint8Array>,
  { signal, onBytes }: { signal: AbortSignal; onBytes: (bytes: number) => void },
): Promise<{ size: number; sha256: string }> {
  const sum = beginSha256();
  let size = 0;
  async function* summed() {
    for await (const chunk of bytes) {
      await sum.add(chunk);
      size += chunk.length;
      onBytes(chunk.length);
      yield chunk;
    }
  }
  try {
    await pipeline(summed, createWriteStream(path, { mode: 0o600, flush: true }), { signal });
  } catch (error) {
    sum.drop();
    onBytes(-size);
    await rm(path, { force: true });
    throw error;
  }
  return { size, sha256: await sum.digest() };
}

/** Removes what an earlier backup had and this one has not. */
export async function removeOthers(objects: AsyncIterable<BackedUpObject>, folder: string): Promise<void> {
  const root = join(folder, 'objects');
  const wanted = new Set<string>();
  for await (const { key } of objects) wanted.add(key);
  for (const name of await readdir(root, { recursive: true }).catch(() => [])) {
    const isFile = isObjectKey(name.replace(OTHERS, ''));
    if (isFile && !wanted.has(name.replace(/\.damaged$/, ''))) await rm(join(root, name), { force: true });
  }
}
