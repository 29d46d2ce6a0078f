import { createReadStream } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { createGunzip } from 'node:zlib';
import type { BackedUpObject } from './backed-up.ts';
import { unreadable } from './damaged.ts';
import { OBJECTS } from './dump.ts';

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
