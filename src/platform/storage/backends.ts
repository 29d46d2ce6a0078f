import type { z } from 'zod';
import { folderPlace } from './folder.ts';
import { s3Backend } from './s3-backend.ts';
import type { StorageBackend, StoragePlace } from './storage-backend.ts';

/** All kinds of object storage. The first one that the environment configures is used. */
const BACKENDS: readonly StorageBackend[] = [s3Backend];

/** The variables of all backends, as fields of the environment; only the backends read them. */
export const STORAGE_VARIABLES: Record<never, z.ZodType> = Object.assign(
  {},
  ...BACKENDS.map(({ variables }) => variables),
);

/** Returns the configured storage; by default a folder below `dataDir`. */
export function storagePlace(values: Record<string, unknown>, dataDir: string): StoragePlace {
  for (const backend of BACKENDS) {
    const place = backend.place(values);
    if (place) return place;
  }
  return folderPlace(dataDir);
}
