import { Hono } from 'hono';
import { accepts } from 'hono/accepts';
import manifest from '../../package.json' with { type: 'json' };
import type { Home } from './home.schemas.ts';
import { CONTENT_SECURITY_POLICY, homePage } from './home-page.ts';

const JSON_TYPE = 'application/json';
const PAGE_TYPE = 'text/html';

/**
 * `GET /`: what runs here, open to everybody; a page for those who ask for one, as browsers do, and JSON for all others.
 *
 * @param deps.publicUrl base of the URLs handed out, without a slash at its end
 */
export function homeRoutes({ publicUrl }: { publicUrl: string }): Hono {
  const home: Home = {
    name: 'Inlet',
    version: manifest.version,
    description: 'Takes lecture recordings in and makes them watchable.',
    links: { api: `${publicUrl}/api`, docs: `${publicUrl}/docs`, openapi: `${publicUrl}/api/openapi.json` },
  };
  return new Hono().get('/', (c) => {
    const supports = [JSON_TYPE, PAGE_TYPE];
    const type = accepts(c, { header: 'Accept', supports, default: JSON_TYPE });
    const headers = {
      Vary: 'Accept',
      'Cache-Control': 'no-cache',
      'Content-Security-Policy': CONTENT_SECURITY_POLICY,
    };
    return type === PAGE_TYPE ? c.html(homePage(home), 200, headers) : c.json(home, 200, headers);
  });
}
