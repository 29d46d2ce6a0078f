import { lstat, mkdir, readdir, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type ObjectReader, readObject, UNREADABLE } from '../digests.ts';
import { ITEM_FILES, itemFolder } from '../import/folder-format.ts';
import { replaceFile } from '../replace-file.ts';
import { writeSummed } from '../write-summed.ts';
import type { Item, ItemFile } from './load-items.ts';

export interface WriteOptions {
  storage: ObjectReader;
  signal: AbortSignal;
  /** @param bytes of files that the folder has; negative when a copy starts again */
  onBytes(bytes: number): void;
}

/**
 * Writes an item unless the folder has it so: its files first, then its JSON, then removes files of earlier states. So the
 * JSON always names complete files, and a copy that was interrupted continues.
 *
 * @returns the reason why it is not written, if any; an earlier state remains then
 */
export async function writeItem(root: string, item: Item, options: WriteOptions): Promise<string | undefined> {
  const folder = join(root, itemFolder(item.kind, item.id));
  const path = join(folder, ITEM_FILES[item.kind]);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  for (const file of item.files) {
    const reason = await writeFile(folder, file, options);
    if (reason) return `${file.name}: ${reason}`;
  }
  if ((await textOf(path)) !== item.text) await replaceFile(path, item.text);
  await removeOthers(folder, new Set([ITEM_FILES[item.kind], ...item.files.map(({ name }) => name)]));
  return undefined;
}

/** Writes a file unless the folder has it. Its name includes its digest, so files with the same name are equal. */
async function writeFile(folder: string, file: ItemFile, options: WriteOptions): Promise<string | undefined> {
  const path = join(folder, file.name);
  const found = await lstat(path).catch(ignoreMissing);
  if (found?.isFile() && found.size === file.size) {
    options.onBytes(file.size);
    return undefined;
  }
  const write = (bytes: AsyncIterable<Uint8Array>) => writeSummed(`${path}.new`, bytes, options);
  const copied = await readObject(options.storage, file.key, write, options.signal);
  if (copied === undefined) return 'it is not in the storage';
  if (copied === UNREADABLE) return 'it cannot be read';
  const isSound = copied.size === file.size && (file.sha256 === null || copied.sha256 === file.sha256);
  if (isSound) {
    await rename(`${path}.new`, path);
    return undefined;
  }
  await rm(`${path}.new`);
  options.onBytes(-copied.size);
  return copied.size === file.size
    ? 'its SHA-256 differs from that of the database'
    : `it has ${copied.size} bytes instead of ${file.size}`;
}

async function textOf(path: string): Promise<string | undefined> {
  return readFile(path, 'utf8').catch(ignoreMissing);
}

async function removeOthers(folder: string, wanted: ReadonlySet<string>): Promise<void> {
  for (const name of await readdir(folder)) {
    if (!wanted.has(name)) await rm(join(folder, name), { recursive: true });
  }
}

function ignoreMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error;
}
