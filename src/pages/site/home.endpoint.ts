import { accepts } from 'hono/accepts';
import { html, raw } from 'hono/html';
import { z } from 'zod';
import { BASE_STYLE, type Html, ICON, page, pagePolicy } from '#platform/http/answer/html-page.ts';
import { defineEndpoint } from '#platform/http/endpoint/endpoint.ts';
import { EXAMPLE_URL } from '#platform/http/endpoint/endpoint-schemas.ts';
import manifest from '../../../package.json' with { type: 'json' };

const Home = z
  .object({
    name: z.literal('Inlet'),
    version: z.string().describe('The version of the program. The API has separate versions.'),
    description: z.string(),
    links: z.object({
      api: z.url().describe('The base URL of the API.'),
      docs: z.url().describe('The API reference as a page.'),
      openapi: z.url().describe('The OpenAPI document.'),
    }),
  })
  .meta({ id: 'Home' });
type Home = z.infer<typeof Home>;

const CONTENT_SECURITY_POLICY = pagePolicy({ style: BASE_STYLE }, 'img-src data:', "frame-ancestors 'none'");

/** The home page. Its relative links are valid behind any proxy name and path. */
function homePage({ name, version, description }: Home): Html {
  const content = html`<main>
<header><img src="${raw(ICON)}" alt=""><h1>${name}</h1></header>
<p>${description}</p>
<ul>
<li><a href="upload"><strong>Upload recordings</strong><span>Files of any size; interrupted uploads resume; requires an account</span></a></li>
<li><a href="admin"><strong>Dashboard</strong><span>Failed, running and queued recordings; requires an administrator account</span></a></li>
<li><a href="docs"><strong>API</strong><span>Reference of all endpoints, with examples and forms to try them</span></a></li>
<li><a href="api/openapi.json"><strong>OpenAPI document</strong><span>The same reference for tools and generated clients</span></a></li>
</ul>
<footer>Version ${version}</footer>
</main>`;
  return page(name, content, { style: BASE_STYLE });
}

const JSON_TYPE = 'application/json';
const PAGE_TYPE = 'text/html';

/** Describes the server: as a page for browsers, as JSON for other clients. */
export const home = defineEndpoint({
  method: 'get',
  path: '/',
  access: 'public',
  summary: 'Describe the server',
  description: 'Name and version of the program, and links to the API and its reference. Browsers get a page.',
  answers: {
    200: {
      description: 'The server is Inlet.',
      plain: true,
      page: true,
      body: Home,
      example: { ...homeOf(EXAMPLE_URL), version: '0.1.0' },
    },
  },
  handle: ({ c }, { config }: { config: { publicUrl: string } }) => {
    const supports = [JSON_TYPE, PAGE_TYPE];
    const type = accepts(c, { header: 'Accept', supports, default: JSON_TYPE });
    const body = homeOf(config.publicUrl);
    const headers = {
      Vary: 'Accept',
      'Cache-Control': 'no-cache',
      'Content-Security-Policy': CONTENT_SECURITY_POLICY,
    };
    return type === PAGE_TYPE ? c.html(homePage(body), 200, headers) : c.json(body, 200, headers);
  },
});

/** @param publicUrl the base of public URLs, without a final slash */
function homeOf(publicUrl: string): Home {
  return {
    name: 'Inlet',
    version: manifest.version,
    description: 'Ingests lecture recordings and publishes them.',
    links: { api: `${publicUrl}/api`, docs: `${publicUrl}/docs`, openapi: `${publicUrl}/api/openapi.json` },
  };
}
