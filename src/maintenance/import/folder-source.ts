import { lstat, open, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { addAbortSignal } from 'node:stream';
import type { z } from 'zod';
import { type CatalogueSource, type SourceChoice, SourceError, type SourceFile } from './catalogue-source.ts';
import {
  ExportFolderError,
  type ExportManifest,
  FILE_NAME,
  ITEM_FILES,
  type ItemKind,
  itemFolder,
  listedItems,
  readManifest,
} from './folder-format.ts';
import { FolderEvent, parseItem } from './folder-item.ts';
import { type SourceEvent, SourceGroup, SourcePlaylist, SourceSeries, type SourceTrack } from './source.schemas.ts';

/** The longest JSON of an item. */
const MOST_BYTES = 64 * 2 ** 20;
/** The address of a file as this source returns it: its path in the folder. */
const FILE_PATH = /^(events|series)\/[0-9a-f]{2}\/[a-z0-9_-]+\/([^/]+)$/;

/**
 * Opens the folder of an export as a source. Nothing outside of it is read, whatever its JSON says.
 *
 * @throws {ExportFolderError} if it holds no finished export
 */
export async function openFolder(path: string): Promise<CatalogueSource> {
  const root = await realpath(path).catch((error: Error) => {
    throw new ExportFolderError(`${path} cannot be read: ${error.message}`);
  });
  const manifest = await readManifest(root);
  if (!manifest) throw new ExportFolderError(`${path} holds no export. Write one with "export ${path}".`);
  if (!manifest.finished)
    throw new ExportFolderError(`The export in ${path} was interrupted. Run it again, and it continues.`);
  return new FolderSource(root, manifest);
}

class FolderSource implements CatalogueSource {
  readonly name: string;
  readonly isPartial: boolean;
  readonly #root: string;

  constructor(root: string, { source, series, since }: ExportManifest) {
    // Another installation may be exported to the same folder later.
    this.name = `folder:${root} (${source.system})`;
    this.isPartial = series !== null || since !== null;
    this.#root = root;
  }

  async *series(choice: SourceChoice): AsyncGenerator<SourceSeries> {
    const { seriesId, since } = choice;
    for await (const series of this.#walk('series', SourceSeries, choice)) {
      if (seriesId !== undefined && series.identifier !== seriesId) continue;
      if (since === undefined || timeOf(series.inlet?.created ?? series.created) >= since.getTime()) yield series;
    }
  }

  async *events(choice: SourceChoice): AsyncGenerator<SourceEvent> {
    const { seriesId, since } = choice;
    for await (const event of this.#walk('events', FolderEvent, choice)) {
      if (seriesId !== undefined && event.is_part_of !== seriesId) continue;
      if (since === undefined || timeOf(event.inlet?.start ?? event.start) >= since.getTime()) yield event;
    }
  }

  playlists(choice: SourceChoice): AsyncGenerator<SourcePlaylist> {
    return this.#walk('playlists', SourcePlaylist, choice);
  }

  groups(choice: SourceChoice): AsyncGenerator<SourceGroup> {
    return this.#walk('groups', SourceGroup, choice);
  }

  async findEvent(id: string): Promise<SourceEvent | undefined> {
    return this.#read('events', id, FolderEvent);
  }

  async findSeries(id: string): Promise<SourceSeries | undefined> {
    return this.#read('series', id, SourceSeries);
  }

  async findPlaylist(id: string): Promise<SourcePlaylist | undefined> {
    return this.#read('playlists', id, SourcePlaylist);
  }

  async findGroup(id: string): Promise<SourceGroup | undefined> {
    return this.#read('groups', id, SourceGroup);
  }

  async tracks(eventId: string): Promise<SourceTrack[]> {
    return (await this.#read('events', eventId, FolderEvent))?.tracks ?? [];
  }

  async open(url: string, signal: AbortSignal): Promise<SourceFile> {
    const name = FILE_PATH.exec(url)?.[2];
    if (name === undefined || !FILE_NAME.test(name)) throw new SourceError(`"${url}" is not a file of the export.`);
    const size = await this.#sizeOf(url);
    if (size === undefined) throw new SourceError(`${url} is not in the folder.`);
    const file = await open(join(this.#root, url), 'r').catch(unreadable(url));
    return { stream: addAbortSignal(signal, file.createReadStream()), size };
  }

  async *#walk<T extends { identifier: string }>(kind: ItemKind, schema: z.ZodType<T>, choice: SourceChoice) {
    const { signal, onUnreadable } = choice;
    for await (const id of listedItems(this.#root, kind)) {
      signal.throwIfAborted();
      try {
        const item = await this.#read(kind, id, schema);
        if (!item) throw new SourceError(`${itemFolder(kind, id)} is not in the folder: its export failed.`);
        yield item;
      } catch (error) {
        if (!(error instanceof SourceError) || !onUnreadable) throw error;
        onUnreadable(id, error.message);
      }
    }
  }

  /** @throws {SourceError} if the item exists, but not as an export writes it */
  async #read<T extends { identifier: string }>(
    kind: ItemKind,
    id: string,
    schema: z.ZodType<T>,
  ): Promise<T | undefined> {
    const path = `${itemFolder(kind, id)}/${ITEM_FILES[kind]}`;
    const size = await this.#sizeOf(path);
    if (size === undefined) return undefined;
    if (size > MOST_BYTES) throw new SourceError(`${path} has ${size} bytes; at most ${MOST_BYTES} are allowed.`);
    const file = await open(join(this.#root, path), 'r').catch(unreadable(path));
    const text = await file.readFile('utf8').finally(() => file.close());
    return parseItem(text, { schema, id, path });
  }

  /** @returns undefined if it does not exist @throws {SourceError} for a link, and for anything else that is no file */
  async #sizeOf(path: string): Promise<number | undefined> {
    const full = join(this.#root, path);
    try {
      const found = await lstat(full);
      if (found.isFile() && (await realpath(full)) === full) return found.size;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
      return unreadable(path)(error as Error);
    }
    throw new SourceError(`${path} is not a regular file in the folder. Links are not followed.`);
  }
}

function unreadable(path: string) {
  return (error: Error): never => {
    throw new SourceError(`${path} cannot be read: ${error.message}`);
  };
}

function timeOf(text: string): number {
  const time = Date.parse(text);
  return Number.isNaN(time) ? Number.POSITIVE_INFINITY : time;
}
