import { randomUUID } from 'node:crypto';
import { constants, type Dirent, type Stats } from 'node:fs';
import {
  access,
  chmod,
  link,
  lstat,
  mkdir,
  open,
  readdir,
  rename,
  rm,
  stat,
  statfs,
  writeFile,
} from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { syncFile, syncFolder, writeDurably, writeSynced } from './durable-file.ts';
import { isObjectKey, requireObjectKey } from './object-keys.ts';
import {
  type AppendOptions,
  type BegunObject,
  type ByteRange,
  type ListedObject,
  type ListOptions,
  ObjectNotFound,
  type ObjectStorage,
  type PutOptions,
  satisfiableRange,
  storageRefused,
} from './object-storage.ts';
import type { StoragePlace } from './storage-backend.ts';
import { UploadMemory } from './upload-memory.ts';
import { Source } from './upload-source.ts';
import { webStream } from './web-stream.ts';

/** Holds unfinished files; the name is not a kind of object. */
const UNFINISHED = '.unfinished';
const READ_BYTES = 128 * 1024;
const PROBE = 'probe-';
const PROBE_BYTES = 4096;
/** No such file: nothing at all, a file in place of its folder, or a broken link. */
const ABSENT: readonly (string | undefined)[] = ['ENOENT', 'ENOTDIR', 'ELOOP'];
/** A file system creates it in its root, readable by root only. */
const RECOVERED = 'lost+found';
const KIND = /^[a-z]+$/;
/** Another file system, one without links, or a file that has as many links as it may. */
const NO_LINKS: readonly (string | undefined)[] = ['EXDEV', 'EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK'];

/** Objects as files in one folder, each under its key. A file appears complete and durable, or not at all. */
export class FolderStorage implements ObjectStorage {
  readonly #root: string;
  readonly #memory: UploadMemory;

  /** @param root an absolute path; created by `open` */
  constructor(root: string, memory = new UploadMemory()) {
    this.#root = root;
    this.#memory = memory;
  }

  async open(): Promise<this> {
    await mkdir(join(this.#root, UNFINISHED), { recursive: true });
    return this;
  }

  async put(key: string, body: Readable | Uint8Array, options: PutOptions): Promise<void> {
    const source = new Source(body, options);
    const [path, unfinished] = source.validate(() => [this.localPath(key), this.#unfinishedPath(key)]);
    await source.run(this.#memory, async (memory) => {
      try {
        await writeDurably(unfinished, source, memory);
        await this.#finish(unfinished, path);
      } catch (error) {
        await this.remove([key]);
        throw error;
      }
    });
  }

  async link(key: string, path: string): Promise<boolean> {
    const unfinished = this.#unfinishedPath(key);
    // A file with another name could change there, and a link could lead anywhere.
    const found = await lstat(path);
    if (!found.isFile() || found.nlink > 1) return false;
    try {
      await link(path, unfinished);
      // A program may protect its results; the permissions of an object are those of the folder.
      await chmod(unfinished, (await stat(dirname(unfinished))).mode & 0o666);
      await syncFile(unfinished);
      await this.#finish(unfinished, this.localPath(key));
      return true;
    } catch (error) {
      await this.remove([key]);
      if (NO_LINKS.includes((error as NodeJS.ErrnoException).code)) return false;
      throw storageRefused(error);
    }
  }

  async begin(key: string): Promise<string> {
    const path = this.#unfinishedPath(key);
    try {
      await writeFile(path, '', { flag: 'wx' });
      // The bytes written into it later are as durable as its name.
      await syncFolder(dirname(path));
    } catch (error) {
      throw storageRefused(error);
    }
    return '';
  }

  async append({ key }: BegunObject, from: number, body: Readable, options: AppendOptions): Promise<void> {
    const source = new Source(body, options);
    const path = source.validate(() => this.#unfinishedPath(key));
    await source.run(this.#memory, async (memory) => {
      const file = await orNotFound(key, open(path, 'r+'));
      try {
        // Truncating would extend it with zeros.
        if ((await file.stat()).size < from) throw new ObjectNotFound(key);
        await file.truncate(from);
        const onSynced = (bytes: number) => source.awaitCaller(options.onPiece({ bytes, receipt: '' }));
        await writeSynced({ path, file }, source, { memory, from, onSynced });
        await source.awaitCaller(options.onRest(new Uint8Array()));
      } finally {
        await file.close();
      }
    });
  }

  async complete({ key }: BegunObject): Promise<void> {
    const path = this.localPath(key);
    await this.#finish(this.#unfinishedPath(key), path).catch(async (error) => {
      if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw storageRefused(error);
      await orNotFound(key, stat(path));
    });
  }

  async get(key: string, range?: ByteRange, signal?: AbortSignal): Promise<ReadableStream<Uint8Array>> {
    signal?.throwIfAborted();
    const file = await orNotFound(key, open(this.localPath(key), 'r'));
    try {
      const found = await file.stat();
      if (!found.isFile()) throw new ObjectNotFound(key);
      const { size } = found;
      const { start, end } = range ? satisfiableRange(range, size) : { start: 0, end: size - 1 };
      if (end < start) {
        await file.close();
        return webStream(Readable.from([]));
      }
      return webStream(file.createReadStream({ start, end, highWaterMark: READ_BYTES }), { signal });
    } catch (error) {
      await file.close();
      throw error;
    }
  }

  async size(key: string): Promise<number> {
    const found = await orNotFound(key, stat(this.localPath(key)));
    if (!found.isFile()) throw new ObjectNotFound(key);
    return found.size;
  }

  async remove(keys: readonly string[]): Promise<void> {
    for (const key of keys) {
      await this.removeUnfinished(key);
      await rm(this.localPath(key), { force: true });
    }
  }

  async *list(prefix: string, { after = '', onForeign }: ListOptions = {}): AsyncIterable<ListedObject> {
    const foreign = (name: string) => name > after && name.startsWith(prefix) && onForeign?.(name);
    for (const kind of await entries(this.#root)) {
      const mayMatch = `${kind.name}/`.startsWith(prefix) || prefix.startsWith(`${kind.name}/`);
      if (kind.name === UNFINISHED || kind.name === RECOVERED) continue;
      if (!kind.isDirectory() || !KIND.test(kind.name)) foreign(kind.name);
      else if (mayMatch) {
        for (const shard of await entries(join(this.#root, kind.name))) {
          const name = `${kind.name}/${shard.name}`;
          if (!shard.isDirectory()) foreign(name);
          else if (name > after) yield* this.#listShard(name, prefix, foreign);
        }
      }
    }
  }

  async *unfinished(prefix = '', onForeign?: (name: string) => void): AsyncIterable<string> {
    for (const { name } of await entries(join(this.#root, UNFINISHED))) {
      const key = name.replaceAll('_', '/');
      if (isObjectKey(key)) {
        if (key.startsWith(prefix)) yield key;
      } else if (!name.startsWith(PROBE)) onForeign?.(`${UNFINISHED}/${name}`);
    }
  }

  async removeUnfinished(key: string): Promise<void> {
    await rm(this.#unfinishedPath(key), { force: true });
  }

  localPath(key: string): string {
    return join(this.#root, requireObjectKey(key));
  }

  async requireRoom(bytes: number): Promise<void> {
    const disk = await statfs(this.#root).catch(() => undefined);
    if (!disk || disk.bavail * disk.bsize >= bytes) return;
    const full = new Error(`No space for ${bytes} bytes in ${this.#root}.`);
    throw storageRefused(Object.assign(full, { code: 'ENOSPC' }));
  }

  async check(): Promise<void> {
    const probe = join(this.#root, UNFINISHED, `${PROBE}${randomUUID()}`);
    try {
      const file = await open(probe, 'wx');
      try {
        await file.write(new Uint8Array(PROBE_BYTES));
        await file.sync();
      } finally {
        await file.close();
      }
    } finally {
      await rm(probe, { force: true });
    }
  }

  async checkReading(): Promise<void> {
    await access(this.#root, constants.R_OK);
  }

  async close(): Promise<void> {}

  async *#listShard(shard: string, prefix: string, foreign: (name: string) => void): AsyncIterable<ListedObject> {
    for (const entry of await entries(join(this.#root, shard))) {
      const key = `${shard}/${entry.name}`;
      if (!isObjectKey(key)) foreign(key);
      if (!isObjectKey(key) || !key.startsWith(prefix)) continue;
      const found = await unlessMissing(stat(join(this.#root, key)));
      if (found?.isFile()) yield { key, size: found.size, modified: found.mtime };
      else if (found || !entry.isFile()) foreign(key);
    }
  }

  async #finish(unfinished: string, path: string): Promise<void> {
    const created = await mkdir(dirname(path), { recursive: true });
    await rename(unfinished, path);
    await syncFolder(dirname(path));
    if (created) await syncFolder(dirname(dirname(path)));
    if (created) await syncFolder(this.#root);
  }

  #unfinishedPath(key: string): string {
    return join(this.#root, UNFINISHED, requireObjectKey(key).replaceAll('/', '_'));
  }
}

/** Returns the entries in order. Other processes add and remove files during a listing. */
async function entries(folder: string): Promise<Dirent[]> {
  const found = (await unlessMissing(readdir(folder, { withFileTypes: true }))) ?? [];
  return found.sort((a, b) => (a.name < b.name ? -1 : 1));
}

async function unlessMissing<T extends Dirent[] | Stats>(pending: Promise<T>): Promise<T | undefined> {
  return pending.catch((error: NodeJS.ErrnoException) => {
    if (ABSENT.includes(error.code)) return undefined;
    throw error;
  });
}

async function orNotFound<T>(key: string, pending: Promise<T>): Promise<T> {
  return pending.catch((error: NodeJS.ErrnoException) => {
    throw ABSENT.includes(error.code) ? new ObjectNotFound(key) : error;
  });
}

/** Entries of a folder without objects: Inlet's own, the file system's, and old probes. */
const NO_OBJECTS: readonly string[] = ['.unfinished', 'lost+found', 'probe'];

/** The default storage: a folder below `DATA_DIR`, created when it is opened. */
export function folderPlace(dataDir: string): StoragePlace {
  const root = join(dataDir, 'objects');
  return {
    name: `folder ${root} (DATA_DIR)`,
    settings: 'DATA_DIR',
    endpoints: async () => ({ hosts: [], sockets: [], files: [] }),
    open: (memoryBytes) => new FolderStorage(root, new UploadMemory(memoryBytes)).open(),
    async *folders() {
      for (const objects of await foldersIn(dataDir, /^objects$/)) {
        yield objects;
        for (const kind of await foldersIn(objects, /^(\.unfinished|[a-z]+)$/)) {
          yield kind;
          yield* await foldersIn(kind, /^[0-9a-f]{2}$/);
        }
      }
    },
    async vacancy() {
      const names = await readdir(root).catch((error: NodeJS.ErrnoException) => error);
      if (!(names instanceof Error))
        return names.every((name) => NO_OBJECTS.includes(name)) ? `${root} is empty` : undefined;
      // Opening the folder reports any other error.
      return names.code === 'ENOENT' ? `${root} does not exist` : undefined;
    },
  };
}

async function foldersIn(path: string, names: RegExp): Promise<string[]> {
  const entries = await readdir(path, { withFileTypes: true }).catch(() => []);
  return entries.filter((entry) => entry.isDirectory() && names.test(entry.name)).map(({ name }) => join(path, name));
}
