import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { StoragePlace } from './backend.ts';
import { FolderStorage } from './folder.ts';
import { UploadMemory } from './memory.ts';

/** Entries of a folder without objects: Inlet's own, the file system's, and old probes. */
const NO_OBJECTS: readonly string[] = ['.unfinished', 'lost+found', 'probe'];

/** The default storage: a folder below `DATA_DIR`, created when it is opened. */
export function folderIn(dataDir: string): StoragePlace {
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
