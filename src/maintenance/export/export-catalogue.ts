import { open, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type pg from 'pg';
import type { Database } from '#platform/database/kysely.ts';
import { forEachConcurrent } from '../concurrency.ts';
import type { ObjectReader } from '../digests.ts';
import {
  ExportFolderError,
  type ExportManifest,
  ITEM_KINDS,
  type ItemKind,
  itemFolder,
  listName,
  writeManifest,
} from '../import/folder-format.ts';
import { jsonLine } from '../json-lines.ts';
import { lockFolder, openExportFolder, removeUnlisted } from './export-folder.ts';
import { type ExportChoice, type ExportTotals, listItems } from './item-list.ts';
import { type Item, type ItemServices, loadItems, loadListed } from './load-items.ts';
import { writeItem } from './write-item.ts';

export interface ExportParts extends ItemServices {
  database: Database;
  /** Used for nothing else. */
  client: pg.Client;
  storage: ObjectReader;
  version: string;
  /** Identifier of the installation (`systemOf`). */
  system: string;
  choice: ExportChoice;
  /** The number of items to write concurrently. */
  concurrency: number;
  signal: AbortSignal;
  onProgress(progress: ExportProgress): void;
}

export interface ExportProgress {
  /** From 0 to 1. */
  fraction: number;
  events: number;
  /** The size of the files in the folder so far. */
  bytes: number;
}

/** An item that could not be written in its present state. */
export interface FailedItem {
  kind: ItemKind;
  id: string;
  reason: string;
}

/**
 * Writes the catalogue into a folder while the system runs. A folder with an earlier export gets changes only, and loses
 * items that no longer exist; the earlier export stays readable until this one has finished.
 *
 * @throws {ExportFolderError}
 */
export async function exportCatalogue(
  folder: string,
  parts: ExportParts,
): Promise<{ manifest: Omit<ExportManifest, 'format'>; failed: FailedItem[] }> {
  try {
    return await writeCatalogue(folder, parts);
  } catch (error) {
    if (!isOfDisk(error)) throw error;
    throw new ExportFolderError(`The export stopped, because ${folder} cannot be written: ${error.message}`);
  }
}

async function writeCatalogue(folder: string, parts: ExportParts) {
  const { client, version, choice } = parts;
  const scope = {
    source: { url: parts.publicUrl, system: parts.system },
    series: choice.seriesId,
    since: choice.since?.toISOString() ?? null,
  };
  const taken = new Date().toISOString();
  const totals = await listItems(client, choice);
  if (choice.seriesId !== null && totals.series + totals.events === 0)
    throw new ExportFolderError(`No series has the identifier "${choice.seriesId}".`);
  const earlier = await openExportFolder(folder, scope);
  await lockFolder(client, folder);
  const started = { finished: false, taken, version, ...scope, items: NOTHING, bytes: 0, failed: 0 };
  if (!earlier) await writeManifest(folder, started);
  const run = new ExportRun(folder, parts, totals);
  const items = { ...NOTHING };
  for (const kind of ITEM_KINDS) items[kind] = await run.writeItems(kind);
  for (const kind of ITEM_KINDS) await rename(listPath(folder, kind), join(folder, listName(kind)));
  const manifest = { ...started, finished: true, items, bytes: run.bytes, failed: run.failed.length };
  await writeManifest(folder, manifest);
  for (const kind of ITEM_KINDS) await removeUnlisted(folder, kind);
  return { manifest, failed: run.failed };
}

const NOTHING = { series: 0, events: 0, playlists: 0, groups: 0 };
const DISK_FAULTS = ['ENOSPC', 'EDQUOT', 'EROFS', 'EACCES', 'EPERM', 'EIO', 'EFBIG', 'ENOTDIR', 'EISDIR', 'ENOTEMPTY'];

/** Returns true for a fault of the folder. The storage reports such faults of its disk as unreadable objects. */
function isOfDisk(error: unknown): error is Error {
  return error instanceof Error && 'code' in error && DISK_FAULTS.includes(String(error.code));
}

function listPath(folder: string, kind: ItemKind): string {
  return `${join(folder, listName(kind))}.new`;
}

class ExportRun {
  readonly failed: FailedItem[] = [];
  bytes = 0;
  readonly #folder: string;
  readonly #parts: ExportParts;
  readonly #totals: ExportTotals;
  #events = 0;

  constructor(folder: string, parts: ExportParts, totals: ExportTotals) {
    this.#folder = folder;
    this.#parts = parts;
    this.#totals = totals;
  }

  /** Writes all items of a kind and their list. @returns their number */
  async writeItems(kind: ItemKind): Promise<number> {
    const { concurrency, signal } = this.#parts;
    let count = 0;
    const list = await open(listPath(this.#folder, kind), 'w', 0o600);
    try {
      const items = this.#items(kind, async (batch) => {
        count += batch.length;
        const lines = batch.map(({ id }) => jsonLine({ identifier: id, folder: itemFolder(kind, id) }));
        await list.write(lines.join(''));
      });
      await forEachConcurrent(items, (item) => this.#writeItem(item), { concurrency, signal });
      await list.sync();
    } finally {
      await list.close();
    }
    return count;
  }

  /** Loads all items of a kind in order. */
  async *#items(kind: ItemKind, onBatch: (items: readonly Item[]) => Promise<void>): AsyncGenerator<Item> {
    for await (const items of loadListed(kind, this.#parts)) {
      await onBatch(items);
      yield* items;
    }
  }

  async #writeItem(item: Item): Promise<void> {
    const { storage, signal } = this.#parts;
    let added = 0;
    const onBytes = (bytes: number) => {
      added += bytes;
      this.bytes += bytes;
      this.#report();
    };
    const reason = await writeItem(this.#folder, item, { storage, signal, onBytes });
    if (reason === undefined) {
      if (item.kind === 'events') this.#events += 1;
      return this.#report();
    }
    this.bytes -= added;
    // The item may have changed since it was loaded, and its objects may have been removed.
    const [present] = await loadItems(this.#parts.database, item.kind, [item.id], this.#parts);
    if (!present) return rm(join(this.#folder, itemFolder(item.kind, item.id)), { recursive: true, force: true });
    if (present.text !== item.text) return this.#writeItem(present);
    this.failed.push({ kind: item.kind, id: item.id, reason });
  }

  #report(): void {
    const { events, bytes } = this.#totals;
    const fraction = bytes > 0 ? this.bytes / bytes : this.#events / (events || 1);
    this.#parts.onProgress({ fraction: Math.min(1, fraction), events: this.#events, bytes: this.bytes });
  }
}
