import { Assets, packaged, SCRIPT_TYPE, scriptSource } from '#platform/http/answer/asset.ts';
import { startReference } from './docs.browser.ts';

/** The files of the reference page: what it needs of the package, and what begins with it. */
export const DOCS_ASSETS = new Assets({
  'swagger-ui.css': packaged('swagger-ui-dist/swagger-ui.css', 'text/css; charset=utf-8'),
  'swagger-ui-bundle.js': packaged('swagger-ui-dist/swagger-ui-bundle.js', SCRIPT_TYPE),
  'favicon-32x32.png': packaged('swagger-ui-dist/favicon-32x32.png', 'image/png'),
  // The function is sent as the text the runtime has of it, types taken out.
  'start.js': scriptSource(`(${startReference})();\n`),
});
