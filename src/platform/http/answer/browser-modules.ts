import { readdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { type AssetSource, SCRIPT_TYPE } from './asset.ts';

/**
 * Lists the ES modules of a folder as files for `Assets`, by their names. They are served as they are written: plain
 * JavaScript with types in JSDoc, which import each other by relative paths. The folder is listed once, so a name from
 * a client is looked up and never made into a path.
 *
 * @param folder with a slash at its end: `new URL('./browser/', import.meta.url)`
 */
export function browserModules(folder: URL): Record<string, AssetSource> {
  const names = readdirSync(folder).filter((name) => name.endsWith('.js'));
  return Object.fromEntries(
    names.map((name) => {
      const load = async () => new Uint8Array(await readFile(new URL(name, folder)));
      return [name, { type: SCRIPT_TYPE, load }];
    }),
  );
}
