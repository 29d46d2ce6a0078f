import { html, raw } from 'hono/html';
import { Assets, packaged, SCRIPT_TYPE } from '#platform/http/answer/asset.ts';
import { browserModules } from '#platform/http/answer/browser-modules.ts';
import { defineEndpoint } from '#platform/http/endpoint/endpoint.ts';

const ASSETS = new Assets({
  ...browserModules(new URL('./browser/', import.meta.url)),
  'swagger-ui.css': packaged('swagger-ui-dist/swagger-ui.css', 'text/css; charset=utf-8'),
  'swagger-ui-bundle.js': packaged('swagger-ui-dist/swagger-ui-bundle.js', SCRIPT_TYPE),
  'favicon-32x32.png': packaged('swagger-ui-dist/favicon-32x32.png', 'image/png'),
});

/** Allows only files of this server; Swagger UI sets styles on elements and shows images of its own. */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'self'",
].join('; ');

/** The API as a page for people. All of it comes from this server. */
export const docsPage = defineEndpoint({
  method: 'get',
  path: '/docs',
  access: 'public',
  handle: ({ c }) => {
    // Relative, so that the page works under whatever name and path a proxy shows it.
    const folder = new URL(c.req.url).pathname.endsWith('/') ? '.' : './docs';
    return c.html(referencePage(folder), 200, {
      'Content-Security-Policy': CONTENT_SECURITY_POLICY,
      'Cache-Control': 'no-cache',
    });
  },
});

/** The files of the page: those of the package that it needs, and the module that begins with them. */
export const docsAsset = defineEndpoint({
  method: 'get',
  path: '/docs/{name}',
  access: 'public',
  handle: ({ c, params }) => ASSETS.answer(c, params.name),
});

/** The reference page. @param folder where its files are, without a slash at its end */
function referencePage(folder: string) {
  const file = (name: string) => raw(`${folder}/${name}`);
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Inlet: the API</title>
<link rel="icon" type="image/png" href="${file('favicon-32x32.png')}">
<link rel="stylesheet" href="${file('swagger-ui.css')}">
</head>
<body>
<div id="reference"></div>
<noscript>This page needs JavaScript; the document it shows is at <a href="${file('../api/openapi.json')}">/api/openapi.json</a>.</noscript>
<script src="${file('swagger-ui-bundle.js')}"></script>
<script type="module" src="${file('api-reference.js')}"></script>
</body>
</html>
`;
}
