import { Assets, packaged, SCRIPT_TYPE, scriptSource } from '#platform/http/answer/asset.ts';
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
  'tus.min.js': packaged('tus-js-client/dist/tus.min.js', SCRIPT_TYPE),
  'page.js': scriptSource(START),
});
