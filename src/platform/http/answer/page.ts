import { createHash } from 'node:crypto';
import { html, raw } from 'hono/html';
import type { HtmlEscapedString } from 'hono/utils/html';

/** HTML in which all text from outside is escaped. */
export type Html = HtmlEscapedString | Promise<HtmlEscapedString>;

export const ICON =
  "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 24 24'%3E%3Crect width='24' height='24' rx='6' fill='%230b6bcb'/%3E%3Cpath d='M9 7v10l8-5z' fill='%23fff'/%3E%3C/svg%3E";

/** Returns a whole HTML document. @param parts.style trusted CSS, never from a client */
export function page(title: string, content: Html, { style }: { style: string }): Html {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<link rel="icon" href="${raw(ICON)}">
<style>${raw(style)}</style>
</head>
<body>
${content}
</body>
</html>
`;
}

/** Returns the `Content-Security-Policy` of a page: its style and additional directives. */
export function pagePolicy({ style }: { style: string }, ...more: readonly string[]): string {
  return [
    "default-src 'none'",
    `style-src 'sha256-${createHash('sha256').update(style).digest('base64')}'`,
    ...more,
    "base-uri 'none'",
    ...(more.some((directive) => directive.startsWith('form-action ')) ? [] : ["form-action 'none'"]),
  ].join('; ');
}
