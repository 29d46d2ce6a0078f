import { html, raw } from 'hono/html';
import { type Html, ICON, page, pagePolicy } from '#platform/http/answer/page.ts';
import { BASE_STYLE } from '#platform/http/answer/style.ts';
import type { Home } from './home.schemas.ts';

/** Nothing but this page's own style. */
export const CONTENT_SECURITY_POLICY = pagePolicy(
  { style: BASE_STYLE },
  'img-src data:',
  "frame-ancestors 'none'",
);

/** What runs here, for people. Links are relative, so that they work under whatever name a proxy shows it, and under a path that ends with a slash. */
export function homePage({ name, version, description }: Home): Html {
  const content = html`<main>
<header><img src="${raw(ICON)}" alt=""><h1>${name}</h1></header>
<p>${description}</p>
<ul>
<li><a href="upload"><strong>Upload recordings</strong><span>Files of any size, over lines that break; needs an account</span></a></li>
<li><a href="docs"><strong>The API</strong><span>Every endpoint with examples, and a form to try it out</span></a></li>
<li><a href="api/openapi.json"><strong>The API for programs</strong><span>The same as an OpenAPI document, to make clients from</span></a></li>
</ul>
<footer>Version ${version}</footer>
</main>`;
  return page(name, content, { style: BASE_STYLE });
}
