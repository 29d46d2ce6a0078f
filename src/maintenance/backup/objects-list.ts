import { createReadStream } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { createGunzip } from 'node:zlib';
import type { BackedUpObject } from './backed-up.ts';
import { OBJECTS } from './dump.ts';
import { readManifest, unreadable } from './manifest.ts';

/** Reads the list of the objects of a dump, one after the other. */
export async function* listedObjects(folder: string): AsyncGenerator<BackedUpObject> {
  const path = join(folder, OBJECTS);
  const file = createReadStream(path);
  const text = createGunzip();
  let fault: unknown;
  // Not every runtime ends the reading of lines with the fault of the stream.
  file.on('error', (error) => text.destroy(error));
  text.on('error', (error) => {
    fault = error;
  });
  try {
    for await (const line of createInterface({ input: file.pipe(text) })) {
      yield JSON.parse(line) as BackedUpObject;
    }
    if (fault) throw fault;
  } catch (error) {
    throw unreadable(path, fault ?? error);
  }
}

/**
 * Finds objects in the list of a backup: under the same key, and with the same content under any key.
 *
 * @returns the objects that the backup lists, by key and by `contentOf`
 * @throws when the backup is damaged
 */
export async function findInBackup(
  folder: string,
  wanted: readonly Pick<BackedUpObject, 'key' | 'size' | 'sha256'>[],
): Promise<Map<string, BackedUpObject>> {
  const found = new Map<string, BackedUpObject>();
  const database = (await readManifest(folder))?.database;
  if (database === undefined) return found;
  const names = new Set(wanted.flatMap((object) => [object.key, contentOf(object)]));
  for await (const object of listedObjects(join(folder, database))) {
    for (const name of [object.key, contentOf(object)]) if (names.has(name)) found.set(name, object);
  }
  return found;
}

/** The name of a content: two objects of the same name have the same bytes, unless their SHA-256 is unknown. */
export function contentOf({ size, sha256 }: Pick<BackedUpObject, 'size' | 'sha256'>): string {
  return `${size} ${sha256}`;
}
