import { Hono } from 'hono';
import type { Database } from '../database/kysely.ts';
import { findRecording } from './queries.ts';
import { CONTENT_SECURITY_POLICY } from './watch/page.ts';
import { missingPage, recordingPage } from './watch/recording-page.ts';

const HEADERS = {
  'Content-Security-Policy': CONTENT_SECURITY_POLICY,
  'X-Content-Type-Options': 'nosniff',
  // Whoever has the address may watch: it is told to no other site and to no search engine.
  'Referrer-Policy': 'no-referrer',
  'X-Robots-Tag': 'noindex',
};

/**
 * `GET /watch/{publication id}`: a page that plays the publication, open to whoever knows its unguessable address.
 * Needs no other host and no file beside those of the publication.
 */
export function watchRoutes({ database }: { database: Database }): Hono {
  return new Hono({ strict: false }).get('/watch/:publicationId', async (c) => {
    const recording = await findRecording(database, c.req.param('publicationId'));
    if (!recording) return c.html(missingPage(), 404, { ...HEADERS, 'Cache-Control': 'no-store' });
    // Relative, so that the page works under whatever name and path a proxy shows it.
    const base = new URL(c.req.url).pathname.endsWith('/') ? '../..' : '..';
    return c.html(recordingPage(recording, base), 200, { ...HEADERS, 'Cache-Control': 'no-cache' });
  });
}
