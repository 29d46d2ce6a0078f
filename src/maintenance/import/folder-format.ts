import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { z } from 'zod';
import { tryParseJson } from '#platform/text/json.ts';
import { replaceFile } from '../replace-file.ts';

/** An expected failure with the folder of an export. The message says what to do. */
export class ExportFolderError extends Error {
  override name = 'ExportFolderError';
}

/** The kinds of items, with the name of the file that describes one. An item without this file is incomplete. */
export const ITEM_FILES = {
  series: 'series.json',
  events: 'event.json',
  playlists: 'playlist.json',
  groups: 'group.json',
} as const;
export type ItemKind = keyof typeof ITEM_FILES;
export const ITEM_KINDS = Object.keys(ITEM_FILES) as ItemKind[];

const DIGEST_LENGTH = 32;

/**
 * Returns the folder of an item, relative to that of the export. It starts readably and ends with a digest, so that no
 * two identifiers share one and none is a reserved name on any file system.
 */
export function itemFolder(kind: ItemKind, id: string): string {
  const digest = createHash('sha256').update(id).digest('hex').slice(0, DIGEST_LENGTH);
  const readable = id
    .toLowerCase()
    .replaceAll(/[^a-z0-9-]/g, '_')
    .replace(/^-/, '_');
  return `${kind}/${digest.slice(0, 2)}/${readable.slice(0, 64)}-${digest}`;
}

/** Returns the name of a file within its item. Files with the same bytes, flavor and extension share one. */
export function fileName(file: { id: string; flavor: string; filename: string; sha256: string | null }): string {
  const flavor = file.flavor
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replace(/^-/, '');
  const extension = /^\.[a-z0-9]{1,10}$/.exec(extname(file.filename).toLowerCase())?.[0] ?? '';
  return `${flavor.slice(0, 64) || 'file'}-${file.sha256?.slice(0, DIGEST_LENGTH) ?? file.id}${extension}`;
}

/** Matches the names that `fileName` returns, none of which leads to another folder. */
export const FILE_NAME = /^[a-z0-9][a-z0-9-]*(\.[a-z0-9]+)?$/;

const MANIFEST = 'catalogue.json';
const FORMAT = 1;

const count = z.int().nonnegative();
const ManifestSchema = z.object({
  format: z.literal(FORMAT),
  /** False until the first export into the folder has finished. */
  finished: z.boolean(),
  /** The time of the list of items. Each item is as of the moment at which it was written, or later. */
  taken: z.iso.datetime(),
  /** The version of Inlet. */
  version: z.string(),
  /** The address of the source, and the identifier of its installation. */
  source: z.object({ url: z.string(), system: z.string() }),
  /** The options of the export; null without them. */
  series: z.string().nullable(),
  since: z.iso.datetime().nullable(),
  /** The number of listed items of each kind, those that failed included. */
  items: z.object({ series: count, events: count, playlists: count, groups: count }),
  /** The size of all files of items, in bytes. */
  bytes: count,
  /** The number of items that were not written in their present state. */
  failed: count,
});
export type ExportManifest = z.infer<typeof ManifestSchema>;

/**
 * Reads the manifest of an export.
 *
 * @returns undefined if the folder has none
 * @throws {ExportFolderError}
 */
export async function readManifest(folder: string): Promise<ExportManifest | undefined> {
  const path = join(folder, MANIFEST);
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw new ExportFolderError(`${path} cannot be read: ${error.message}`);
  });
  if (text === undefined) return undefined;
  const parsed = ManifestSchema.safeParse(tryParseJson(text));
  if (!parsed.success) throw new ExportFolderError(`${path} has a format that this version cannot read.`);
  return parsed.data;
}

/** Writes the manifest atomically. */
export async function writeManifest(folder: string, manifest: Omit<ExportManifest, 'format'>): Promise<void> {
  await replaceFile(join(folder, MANIFEST), `${JSON.stringify({ format: FORMAT, ...manifest }, undefined, 2)}\n`);
}

/** Returns the name of the list of all items of a kind: a line of JSON for each, in order. */
export function listName(kind: ItemKind): string {
  return `${kind}.jsonl`;
}

const ListedItem = z.object({ identifier: z.string().min(1) });

/** Reads the identifiers of all items of a kind. @throws {ExportFolderError} */
export async function* listedItems(folder: string, kind: ItemKind): AsyncGenerator<string> {
  const path = join(folder, listName(kind));
  const lines = createInterface({ input: createReadStream(path), crlfDelay: Number.POSITIVE_INFINITY });
  try {
    for await (const line of lines) {
      const parsed = ListedItem.safeParse(tryParseJson(line));
      if (!parsed.success) throw new ExportFolderError(`${path} has a line that is not an item.`);
      yield parsed.data.identifier;
    }
  } catch (error) {
    if (error instanceof ExportFolderError) throw error;
    throw new ExportFolderError(`${path} cannot be read: ${(error as Error).message}`);
  } finally {
    lines.close();
  }
}
