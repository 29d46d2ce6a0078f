import { Readable } from 'node:stream';
import type { ReceivedFile } from '#ingest/staged-files.ts';
import type { ObjectStorage } from '#platform/storage/object-storage.ts';
import { type ItemSource, SourceError, type SourceFile } from './catalogue-source.ts';
import type { ItemKind } from './folder-format.ts';
import { type ExportedEvent, filePaths, ITEM_SCHEMAS, parseItem } from './folder-item.ts';
import type { Item } from './item-kinds.ts';
import type { SourceEvent, SourceTrack } from './source.schemas.ts';

/** An item as another Inlet has sent it. */
export interface SentItem {
  item: Item;
  /** The names of its files. */
  names: ReadonlySet<string>;
}

/** Parses a sent item. @throws {SourceError} */
export function parseSentItem(kind: ItemKind, id: string, text: string): SentItem {
  const item: Item = parseItem<Item>(text, { schema: ITEM_SCHEMAS[kind], id, path: 'The field `item`' });
  return { item, names: new Set(isEvent(item) ? filePaths(item).map(nameIn) : []) };
}

/** The item needs files that were not sent with it. */
export class FilesNotSent extends Error {
  override name = 'FilesNotSent';
  readonly names: readonly string[];
  constructor(names: readonly string[]) {
    super('Send it again, with the files that are missing here.');
    this.names = names;
  }
}

/** One sent item as a source. Its files are objects on the staging ledger. */
export class SentItemSource implements ItemSource {
  readonly name: string;
  readonly #item: Item;
  readonly #files: ReadonlyMap<string, ReceivedFile>;
  readonly #storage: ObjectStorage;

  constructor(name: string, { item }: SentItem, files: readonly ReceivedFile[], storage: ObjectStorage) {
    this.name = name;
    this.#item = item;
    this.#files = new Map(files.map((file) => [file.filename, file]));
    this.#storage = storage;
  }

  async findEvent(): Promise<SourceEvent | undefined> {
    return isEvent(this.#item) ? this.#item : undefined;
  }

  async tracks(): Promise<SourceTrack[]> {
    return isEvent(this.#item) ? this.#item.tracks : [];
  }

  /** @throws {FilesNotSent} */
  prepare(urls: readonly string[]): void {
    const missing = new Set(urls.map(nameIn).filter((name) => !this.#files.has(name)));
    if (missing.size > 0) throw new FilesNotSent([...missing]);
  }

  async open(url: string, signal: AbortSignal): Promise<SourceFile> {
    const file = this.#files.get(nameIn(url));
    if (!file) throw new SourceError(`${url} was not sent.`);
    const stream = Readable.from(await this.#storage.get(file.objectKey, undefined, signal));
    return { stream, size: file.size };
  }
}

/** Only events have files. */
const isEvent = (item: Item): item is ExportedEvent => 'tracks' in item;
const nameIn = (url: string) => url.slice(url.lastIndexOf('/') + 1);
