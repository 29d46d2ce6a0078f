import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { type AssetSource, Assets, SCRIPT_TYPE, scriptSource } from '../http/answer/asset.ts';
import { startReference } from './docs.browser.ts';

/** The files of the reference page: what it needs of the package, and what begins with it. */
export const DOCS_ASSETS = new Assets({
  'swagger-ui.css': packaged('swagger-ui.css', 'text/css; charset=utf-8'),
  'swagger-ui-bundle.js': packaged('swagger-ui-bundle.js', SCRIPT_TYPE),
  'favicon-32x32.png': packaged('favicon-32x32.png', 'image/png'),
  // The function is sent as the text the runtime has of it, types taken out.
  'start.js': scriptSource(`(${startReference})();\n`),
});

function packaged(name: string, type: string): AssetSource {
  const path = () => createRequire(import.meta.url).resolve(`swagger-ui-dist/${name}`);
  return { type, load: async () => new Uint8Array(await readFile(path())) };
}
