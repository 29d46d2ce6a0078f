import { html, raw } from 'hono/html';

/** Only what this server has; Swagger UI sets styles on elements and shows images of its own. */
export const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'self'",
].join('; ');

/** The reference page. @param folder where its files are, without a slash at its end */
export function referencePage(folder: string) {
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
<script src="${file('start.js')}"></script>
</body>
</html>
`;
}
