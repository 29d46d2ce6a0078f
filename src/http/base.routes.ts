import { Hono } from 'hono';
import { API_VERSIONS, NEWEST_VERSION } from './version.ts';

const DEFAULT = `v${NEWEST_VERSION}`;
const VERSIONS = API_VERSIONS.map((version) => `v${version}`);

/**
 * What the API is and which versions it speaks; open to everybody. Mounted at `/api`.
 *
 * @param deps.publicUrl base of the URLs handed out, without a slash at its end
 */
export function baseRoutes(deps: { publicUrl: string }): Hono {
  return new Hono()
    .get('/', (c) => c.json({ url: `${deps.publicUrl}/api`, version: DEFAULT }))
    .get('/version', (c) => c.json({ versions: VERSIONS, default: DEFAULT }))
    .get('/version/default', (c) => c.json({ default: DEFAULT }));
}
