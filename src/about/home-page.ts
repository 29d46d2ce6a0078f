import { html, raw } from 'hono/html';
import { type Html, ICON, page, pagePolicy } from '../http/answer/page.ts';
import type { Home } from './home.schemas.ts';

/** By day and by night, on a desk and on a phone. */
const STYLE = `
:root { --ground: #f5f6f8; --sheet: #fff; --text: #1d2129; --faint: #5b6472; --line: #d9dde4; --accent: #0b6bcb; color-scheme: light; }
@media (prefers-color-scheme: dark) {
  :root { --ground: #15181d; --sheet: #1c2027; --text: #e9ecf1; --faint: #9aa4b2; --line: #2d333c; --accent: #6cb2ff; color-scheme: dark; }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--ground); color: var(--text); font: 1rem/1.55 system-ui, sans-serif; }
main { max-width: 40rem; margin: 0 auto; padding: clamp(1.5rem, 10vh, 6rem) 1.25rem 3rem; }
header { display: flex; align-items: center; gap: .8rem; }
header img { width: 2.5rem; height: 2.5rem; }
h1 { margin: 0; font-size: 1.9rem; line-height: 1.2; }
p { margin: .9rem 0 1.6rem; }
ul { list-style: none; margin: 0; padding: 0; }
li + li { margin-top: .6rem; }
a { display: block; padding: .75rem 1rem; border: 1px solid var(--line); border-radius: .6rem; background: var(--sheet); color: inherit; text-decoration: none; }
a:hover { border-color: var(--accent); }
a strong { color: var(--accent); }
a span { display: block; color: var(--faint); }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
footer { margin-top: 1.6rem; color: var(--faint); font-size: .92rem; }
`;

/** Nothing but this page's own style. */
export const CONTENT_SECURITY_POLICY = pagePolicy(
  { style: STYLE },
  'img-src data:',
  "frame-ancestors 'none'",
);

/** What runs here, for people. Links are relative, so that they work under whatever name a proxy shows it, and under a path that ends with a slash. */
export function homePage({ name, version, description }: Home): Html {
  const content = html`<main>
<header><img src="${raw(ICON)}" alt=""><h1>${name}</h1></header>
<p>${description}</p>
<ul>
<li><a href="docs"><strong>The API</strong><span>Every endpoint with examples, and a form to try it out</span></a></li>
<li><a href="api/openapi.json"><strong>The API for programs</strong><span>The same as an OpenAPI document, to make clients from</span></a></li>
</ul>
<footer>Version ${version}</footer>
</main>`;
  return page(name, content, { style: STYLE });
}
