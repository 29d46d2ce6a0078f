import { createHash } from 'node:crypto';
import { html, raw } from 'hono/html';
import type { HtmlEscapedString } from 'hono/utils/html';

/** HTML in which all text from outside is escaped. */
export type Html = HtmlEscapedString | Promise<HtmlEscapedString>;

export const ICON =
  "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 24 24'%3E%3Crect width='24' height='24' rx='6' fill='%230b6bcb'/%3E%3Cpath d='M9 7v10l8-5z' fill='%23fff'/%3E%3C/svg%3E";

/** Returns a whole HTML document. @param parts.style trusted CSS, never from a client @param parts.head more of the head */
export function page(title: string, content: Html, { style, head = '' }: { style: string; head?: Html | '' }): Html {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<link rel="icon" href="${raw(ICON)}">
${head}<style>${raw(style)}</style>
</head>
<body>
${content}
</body>
</html>
`;
}

/** Returns a page with an icon and its title as the heading. @param style trusted CSS */
export function titledPage(title: string, content: Html, style: string): Html {
  const main = html`<main>
<header><img src="${raw(ICON)}" alt=""><h1>${title}</h1></header>
${content}
</main>`;
  return page(`${title} - Inlet`, main, { style });
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

/** The style that all pages share, for light and dark mode and small screens. */
export const BASE_STYLE = `
:root { --ground: #f5f6f8; --sheet: #fff; --text: #1d2129; --faint: #5b6472; --line: #d9dde4; --accent: #0b6bcb; --on-accent: #fff; --alarm: #b3261e; color-scheme: light; }
@media (prefers-color-scheme: dark) {
  :root { --ground: #15181d; --sheet: #1c2027; --text: #e9ecf1; --faint: #9aa4b2; --line: #2d333c; --accent: #6cb2ff; --on-accent: #10141a; --alarm: #ff8a80; color-scheme: dark; }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--ground); color: var(--text); font: 1rem/1.55 system-ui, sans-serif; }
main { max-width: 40rem; margin: 0 auto; padding: clamp(1.5rem, 10vh, 6rem) 1.25rem 3rem; }
header { display: flex; align-items: center; gap: .8rem; }
header img { width: 2.5rem; height: 2.5rem; }
h1 { margin: 0; font-size: 1.9rem; line-height: 1.2; }
p { margin: .9rem 0 1.6rem; overflow-wrap: anywhere; }
ul { list-style: none; margin: 0; padding: 0; }
li + li { margin-top: .6rem; }
li a { display: block; padding: .75rem 1rem; border: 1px solid var(--line); border-radius: .6rem; background: var(--sheet); color: inherit; text-decoration: none; }
li a:hover { border-color: var(--accent); }
a, a strong { color: var(--accent); }
li a span { display: block; color: var(--faint); }
input:not([type=hidden]) { display: block; width: 100%; margin-top: .3rem; padding: .6rem .75rem; border: 1px solid var(--line); border-radius: .6rem; background: var(--sheet); color: inherit; font: inherit; }
::placeholder { color: var(--faint); opacity: 1; }
button { margin-top: 1.4rem; padding: .65rem 1.3rem; border: 1px solid transparent; border-radius: .6rem; background: var(--accent); color: var(--on-accent); font: inherit; font-weight: 600; cursor: pointer; }
button:disabled { opacity: .6; cursor: default; }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
footer { margin-top: 1.6rem; color: var(--faint); font-size: .92rem; }
`;
