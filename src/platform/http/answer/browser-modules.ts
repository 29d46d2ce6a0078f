import { readdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { type AssetSource, SCRIPT_TYPE } from './asset.ts';

/**
 * Lists the ES modules of a folder, which ends in a slash, for `Assets`. They are served as written. Listed once, so
 * that a name from a client never becomes a path.
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
