import { createReadStream } from 'node:fs';
import { mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { isObjectKey, requireObjectKey } from '#platform/storage/object-keys.ts';
import type { ObjectStorage } from '#platform/storage/object-storage.ts';
import { forEachConcurrent, serializeByKey } from '../concurrency.ts';
import { digestOfStream, isUnreadable, type ObjectReader, readObject, UNREADABLE } from '../digests.ts';
import type { OwnedObject } from '../owned-objects.ts';
import { writeSummed } from '../write-summed.ts';

/** An object in the list of a backup. */
export type BackedUpObject = Pick<OwnedObject, 'key' | 'size' | 'sha256' | 'mediatype'>;

/** An object that the backup does not have as its row describes it. */
export interface MissingObject {
  key: string;
  reason: string;
}

const UNKNOWN_TYPE = 'application/octet-stream';
const CONCURRENCY = 4;
/** Files of unfinished copies and of damaged objects. The next backup tries these objects again. */
const INCOMPLETE = /\.(new|damaged)$/;

function backupPath(folder: string, key: string): string {
  return join(folder, 'objects', requireObjectKey(key));
}

/** Returns the path for content that does not match its row. */
function damagedPath(folder: string, key: string): string {
  return `${backupPath(folder, key)}.damaged`;
}

/** Stores an object from a backup. */
interface Storing {
  storage: Pick<ObjectStorage, 'put'>;
  /** Returns the key to store the object under. Called only when the content is usable. */
  key: () => Promise<string>;
}

/** Stores an object from a backup if it matches its row. @returns false if the backup does not have it so */
export async function storeFromBackup(folder: string, object: BackedUpObject, to: Storing): Promise<boolean> {
  return isObjectKey(object.key) && storeFile(backupPath(folder, object.key), object, to, matchesRow);
}

/**
 * Stores the content that a backup has for an object even if it does not match the row, because the row may be wrong.
 *
 * @returns false if the backup has nothing readable
 */
export async function storeAsItIs(folder: string, object: BackedUpObject, to: Storing): Promise<boolean> {
  if (!isObjectKey(object.key)) return false;
  const paths = [backupPath(folder, object.key), damagedPath(folder, object.key)];
  for (const path of paths) if (await storeFile(path, object, to, isReadable)) return true;
  return false;
}

/** Decides whether a file with this size and SHA-256 is stored for the object. */
type FileCheck = (object: BackedUpObject, bytes: number, digest: () => Promise<string | undefined>) => Promise<boolean>;

const matchesRow: FileCheck = async ({ size, sha256 }, bytes, digest) =>
  bytes === size && (sha256 === null || (await digest()) === sha256);

const isReadable: FileCheck = async (_object, _bytes, digest) => (await digest()) !== undefined;

async function storeFile(
  path: string,
  object: BackedUpObject,
  { storage, key }: Storing,
  check: FileCheck,
): Promise<boolean> {
  const file = await open(path, 'r').catch(() => undefined);
  if (!file) return false;
  const read = () => file.createReadStream({ autoClose: false, start: 0 });
  try {
    const { size: expectedBytes } = await file.stat();
    if (!(await check(object, expectedBytes, () => digestOfFile(read())))) return false;
    await storage.put(await key(), read(), { mediatype: object.mediatype ?? UNKNOWN_TYPE, expectedBytes });
    return true;
  } finally {
    await file.close();
  }
}

/** Returns the SHA-256 of a file in hexadecimal, or undefined if the disk cannot read it. */
async function digestOfFile(bytes: AsyncIterable<Uint8Array>): Promise<string | undefined> {
  return digestOfStream(bytes).catch((error) => {
    if (isUnreadable(error)) return undefined;
    throw error;
  });
}

interface CopyOptions {
  signal: AbortSignal;
  /** Reads objects of an earlier backup, and copies them again if they do not match their rows. */
  digests: boolean;
  /** @param bytes added to the backup; negative when a copy starts again */
  onBytes: (bytes: number) => void;
}

/**
 * Copies objects into a backup, except those that an earlier backup has, because objects never change.
 *
 * @returns the objects that the backup lacks
 */
export async function copyObjects(
  objects: AsyncIterable<BackedUpObject>,
  folder: string,
  storage: ObjectReader,
  options: CopyOptions,
): Promise<MissingObject[]> {
  const { signal, digests, onBytes } = options;
  const lacking: MissingObject[] = [];
  const copy = async (object: BackedUpObject) => {
    if (!isObjectKey(object.key)) return lacking.push({ key: object.key, reason: 'it is not a valid object key' });
    const path = backupPath(folder, object.key);
    const found = await stat(path).catch(() => undefined);
    if (found?.size === object.size && (!digests || (await isSound(path, object)))) return onBytes(object.size);
    const reason = await copyObject(object, folder, storage, options);
    if (reason) lacking.push({ key: object.key, reason });
  };
  await forEachConcurrent(objects, serializeByKey(copy), { concurrency: CONCURRENCY, signal });
  return lacking;
}

async function isSound(path: string, { sha256 }: BackedUpObject): Promise<boolean> {
  return sha256 === null || (await digestOfFile(createReadStream(path))) === sha256;
}

/** @returns the mismatch with the row, if any; the copy is kept in a separate file then */
async function copyObject(
  { key, size, sha256 }: BackedUpObject,
  folder: string,
  storage: ObjectReader,
  options: CopyOptions,
): Promise<string | undefined> {
  const path = backupPath(folder, key);
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  // Faults of the backup's disk end the whole backup.
  const write = (bytes: AsyncIterable<Uint8Array>) => writeSummed(`${path}.new`, bytes, options);
  const copied = await readObject(storage, key, write, options.signal);
  if (copied === undefined) return 'it is not in the storage';
  if (copied === UNREADABLE) return 'it cannot be read';
  const isOther = sha256 !== null && copied.sha256 !== sha256;
  const reason =
    copied.size === size
      ? isOther && 'its SHA-256 differs from that of the row'
      : `it has ${copied.size} bytes instead of ${size}`;
  await rename(`${path}.new`, reason ? damagedPath(folder, key) : path);
  return reason || undefined;
}

/** Removes the objects of earlier backups that this one does not list. */
export async function removeOthers(objects: AsyncIterable<BackedUpObject>, folder: string): Promise<void> {
  const root = join(folder, 'objects');
  const wanted = new Set<string>();
  for await (const { key } of objects) wanted.add(key);
  for (const name of await readdir(root, { recursive: true }).catch(() => [])) {
    const isFile = isObjectKey(name.replace(INCOMPLETE, ''));
    if (isFile && !wanted.has(name.replace(/\.damaged$/, ''))) await rm(join(root, name), { force: true });
  }
}
