import { createReadStream } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { createGunzip } from 'node:zlib';
import type { BackedUpObject } from './backed-up.ts';
import { OBJECTS } from './dump.ts';

/** Reads the list of the objects of a dump, one after the other. */
export async function* listedObjects(folder: string): AsyncGenerator<BackedUpObject> {
  const file = createReadStream(join(folder, OBJECTS));
  const text = createGunzip();
  let fault: unknown;
  // Reading lines ends without a word when the stream breaks.
  file.on('error', (error) => text.destroy(error));
  text.on('error', (error) => {
    fault = error;
  });
  for await (const line of createInterface({ input: file.pipe(text) })) {
    yield JSON.parse(line) as BackedUpObject;
  }
  if (fault) throw fault;
}
