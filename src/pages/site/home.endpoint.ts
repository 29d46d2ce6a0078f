import { accepts } from 'hono/accepts';
import { defineEndpoint } from '#platform/http/endpoint/endpoint.ts';
import { EXAMPLE_URL } from '#platform/http/endpoint/schemas.ts';
import manifest from '../../../package.json' with { type: 'json' };
import { Home } from './home.schemas.ts';
import { CONTENT_SECURITY_POLICY, homePage } from './home-page.ts';

const JSON_TYPE = 'application/json';
const PAGE_TYPE = 'text/html';

/** What runs here; a page for those who ask for one, as browsers do, and JSON for all others. */
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
