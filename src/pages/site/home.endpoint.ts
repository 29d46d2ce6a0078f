import { accepts } from 'hono/accepts';
import { html, raw } from 'hono/html';
import { z } from 'zod';
import { type Html, ICON, page, pagePolicy } from '#platform/http/answer/page.ts';
import { BASE_STYLE } from '#platform/http/answer/style.ts';
import { defineEndpoint } from '#platform/http/endpoint/endpoint.ts';
import { EXAMPLE_URL } from '#platform/http/endpoint/schemas.ts';
import manifest from '../../../package.json' with { type: 'json' };

/** Name and version of the program, and links. */
const Home = z
  .object({
    name: z.literal('Inlet'),
    version: z.string().describe('Of the program; the API has versions of its own.'),
    description: z.string(),
    links: z.object({
      api: z.url().describe('The API.'),
      docs: z.url().describe('Its reference for people.'),
      openapi: z.url().describe('Its reference for programs.'),
    }),
  })
  .meta({ id: 'Home' });
type Home = z.infer<typeof Home>;

/** Nothing but this page's own style. */
const CONTENT_SECURITY_POLICY = pagePolicy({ style: BASE_STYLE }, 'img-src data:', "frame-ancestors 'none'");

/** The page for people. Its links are relative, so that they work under every name and path of a proxy. */
function homePage({ name, version, description }: Home): Html {
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

const JSON_TYPE = 'application/json';
const PAGE_TYPE = 'text/html';

/** Describes the server: as a page for clients that ask for one, as browsers do, and as JSON for all others. */
export const home = defineEndpoint({
  method: 'get',
  path: '/',
  access: 'public',
  summary: 'What runs here',
  description: 'Name and version of the program, and where to go on. Browsers get a page.',
  answers: {
    200: {
      description: 'It is Inlet.',
      plain: true,
      page: true,
      body: Home,
      example: { ...homeOf(EXAMPLE_URL), version: '0.1.0' },
    },
  },
  handle: ({ c }, { config }: { config: { publicUrl: string } }) => {
    const supports = [JSON_TYPE, PAGE_TYPE];
    const type = accepts(c, { header: 'Accept', supports, default: JSON_TYPE });
    const what = homeOf(config.publicUrl);
    const headers = {
      Vary: 'Accept',
      'Cache-Control': 'no-cache',
      'Content-Security-Policy': CONTENT_SECURITY_POLICY,
    };
    return type === PAGE_TYPE ? c.html(homePage(what), 200, headers) : c.json(what, 200, headers);
  },
});

/** @param publicUrl base of the URLs handed out, without a slash at its end */
function homeOf(publicUrl: string): Home {
  return {
    name: 'Inlet',
    version: manifest.version,
    description: 'Takes lecture recordings in and makes them watchable.',
    links: { api: `${publicUrl}/api`, docs: `${publicUrl}/docs`, openapi: `${publicUrl}/api/openapi.json` },
  };
}
