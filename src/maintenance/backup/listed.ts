import { join } from 'node:path';
import type { BackedUpObject } from './backed-up.ts';
import { readManifest } from './manifest.ts';
import { listedObjects } from './objects-list.ts';

/** What a backup lists of objects that are looked for. */
export interface Listed {
  byKey: ReadonlyMap<string, BackedUpObject>;
  /** By size and SHA-256 (`contentOf`). */
  byContent: ReadonlyMap<string, BackedUpObject>;
}

/** What makes objects the same. */
export function contentOf({ size, sha256 }: Pick<BackedUpObject, 'size' | 'sha256'>): string {
  return `${size} ${sha256}`;
}

/**
 * Looks objects up in the list of a backup, by their keys and by what is in them.
 *
 * @param contents as `contentOf` makes them
 * @throws when the backup is damaged
 */
export async function lookUp(
  folder: string,
  keys: ReadonlySet<string>,
  contents: ReadonlySet<string>,
): Promise<Listed> {
  const byKey = new Map<string, BackedUpObject>();
  const byContent = new Map<string, BackedUpObject>();
  const database = (await readManifest(folder))?.database;
  if (database === undefined) return { byKey, byContent };
  for await (const object of listedObjects(join(folder, database))) {
    if (keys.has(object.key)) byKey.set(object.key, object);
    if (contents.has(contentOf(object))) byContent.set(contentOf(object), object);
  }
  return { byKey, byContent };
}
