import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { Assets, SCRIPT_TYPE, scriptSource } from '../../http/answer/asset.ts';
import { PARTS } from './parts.ts';
import { startPage } from './start.browser.ts';

/**
 * What the page runs. The functions are written and checked like all others and sent as the text the runtime has of
 * them, types taken out: no build step, and no file to be read when serving.
 */
const START = `(${startPage})({
${Object.entries(PARTS)
  .map(([name, part]) => `${name}: ${part},`)
  .join('\n')}
});
`;

/** The scripts of the page: the client of the tus project as its package has it for browsers, and our own. */
export const UPLOAD_ASSETS = new Assets({
  'tus.min.js': {
    type: SCRIPT_TYPE,
    load: async () =>
      new Uint8Array(await readFile(createRequire(import.meta.url).resolve('tus-js-client/dist/tus.min.js'))),
  },
  'page.js': scriptSource(START),
});
