import { createHash } from 'node:crypto';
import { html, raw } from 'hono/html';
import type { HtmlEscapedString } from 'hono/utils/html';
import { SCRIPT } from './script.ts';
import { STYLE } from './style.ts';

/** A piece of HTML in which every text from outside has been escaped. */
export type Html = HtmlEscapedString | Promise<HtmlEscapedString>;

const ICON =
  "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 24 24'%3E%3Crect width='24' height='24' rx='6' fill='%230b6bcb'/%3E%3Cpath d='M9 7v10l8-5z' fill='%23fff'/%3E%3C/svg%3E";

/** Only this page's own script and style, and only media from this server; any site may show the page in a frame. */
export const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  `script-src ${fingerprint(SCRIPT)}`,
  `style-src ${fingerprint(STYLE)}`,
  "img-src 'self' data:",
  "media-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
].join('; ');

/** A whole document around its content. */
export function page(title: string, content: Html): Html {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<link rel="icon" href="${raw(ICON)}">
<style>${raw(STYLE)}</style>
</head>
<body>
${content}
<script>${raw(SCRIPT)}</script>
</body>
</html>
`;
}

function fingerprint(text: string): string {
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
}
