import { html, raw } from 'hono/html';
import { Assets, browserModules, packageFile, SCRIPT_TYPE } from '#platform/http/answer/asset.ts';
import { defineEndpoint } from '#platform/http/endpoint/endpoint.ts';

const ASSETS = new Assets({
  ...browserModules(new URL('./browser/', import.meta.url)),
  'swagger-ui.css': packageFile('swagger-ui-dist/swagger-ui.css', 'text/css; charset=utf-8'),
  'swagger-ui-bundle.js': packageFile('swagger-ui-dist/swagger-ui-bundle.js', SCRIPT_TYPE),
  'favicon-32x32.png': packageFile('swagger-ui-dist/favicon-32x32.png', 'image/png'),
});

/** Allows only files of this server. Swagger UI sets styles on elements and shows embedded images. */
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

/** Shows the API reference. It loads nothing from other hosts. */
export const docsPage = defineEndpoint({
  method: 'get',
  path: '/docs',
  access: 'public',
  handle: ({ c }) => {
    // Relative URLs are valid behind any proxy name and path.
    const folder = new URL(c.req.url).pathname.endsWith('/') ? '.' : './docs';
    return c.html(referencePage(folder), 200, {
      'Content-Security-Policy': CONTENT_SECURITY_POLICY,
      'Cache-Control': 'no-cache',
    });
  },
});

/** The files of Swagger UI, and the script that starts it. */
export const docsAsset = defineEndpoint({
  method: 'get',
  path: '/docs/{name}',
  access: 'public',
  handle: ({ c, params }) => ASSETS.answer(c, params.name),
});

/** @param folder the URL of its files, without a final slash */
function referencePage(folder: string) {
  const file = (name: string) => raw(`${folder}/${name}`);
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>API - Inlet</title>
<link rel="icon" type="image/png" href="${file('favicon-32x32.png')}">
<link rel="stylesheet" href="${file('swagger-ui.css')}">
</head>
<body>
<div id="reference"></div>
<noscript>This page needs JavaScript. The OpenAPI document is at <a href="${file('../api/openapi.json')}">/api/openapi.json</a>.</noscript>
<script src="${file('swagger-ui-bundle.js')}"></script>
<script type="module" src="${file('api-reference.js')}"></script>
</body>
</html>
`;
}
