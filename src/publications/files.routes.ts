import { type Context, Hono } from 'hono';
import { cors } from 'hono/cors';
import type { Database } from '../database/kysely.ts';
import { allowsRange, matchesNone, strongEtag } from '../http/etag.ts';
import { requestedRange } from '../http/range.ts';
import { type ByteRange, ObjectNotFound, type ObjectStorage } from '../storage/port.ts';
import { findPublishedFile } from './queries.ts';

type PublishedFile = NonNullable<Awaited<ReturnType<typeof findPublishedFile>>>;

/** An element's bytes never change, but it may be retracted: copies in caches are good for an hour. */
const CACHE_CONTROL = 'public, max-age=3600';

/** Shown on its own, a file may do nothing but be seen and heard, whatever its bytes are. */
const POLICY = "sandbox; default-src 'none'; img-src 'self'; media-src 'self'; style-src 'unsafe-inline'";

/**
 * `GET` and `HEAD /publications/{publication id}/{element id}/{filename}`: the files of publications, open to whoever
 * knows their unguessable address, also to players on other sites. Streams from the object storage, as a whole or the
 * one range asked for.
 */
export function fileRoutes(deps: { database: Database; storage: ObjectStorage }): Hono {
  const app = new Hono();
  app.use(
    '/publications/*',
    cors({
      origin: '*',
      allowMethods: ['GET', 'HEAD'],
      allowHeaders: ['Range', 'If-Range', 'If-None-Match'],
      exposeHeaders: ['Accept-Ranges', 'Content-Length', 'Content-Range', 'ETag'],
      maxAge: 86_400,
    }),
  );
  app.get('/publications/:publicationId/:elementId/:filename', async (c) => {
    const file = await findPublishedFile(deps.database, c.req.param());
    return file ? serveFile(c, deps.storage, file) : missing(c);
  });
  return app;
}

async function serveFile(c: Context, storage: ObjectStorage, file: PublishedFile): Promise<Response> {
  const etag = strongEtag(file.sha256);
  const headers = headersOf(file, etag);
  if (matchesNone(c.req.header('If-None-Match'), etag)) return c.body(null, 304, headers);

  const whole = { ...headers, 'Content-Length': String(file.size) };
  if (c.req.method === 'HEAD') return c.body(null, 200, whole);

  const range = allowsRange(c.req.header('If-Range'), etag)
    ? requestedRange(c.req.header('Range'), file.size)
    : 'all';
  if (range === 'unsatisfiable') {
    return c.text('The range lies outside the file.', 416, { 'Content-Range': `bytes */${file.size}` });
  }
  const body = await open(storage, file.object_key, range === 'all' ? undefined : range);
  if (!body) return missing(c);
  if (range === 'all') return c.body(body, 200, whole);
  return c.body(body, 206, {
    ...headers,
    'Content-Length': String(range.end - range.start + 1),
    'Content-Range': `bytes ${range.start}-${range.end}/${file.size}`,
  });
}

function headersOf(file: PublishedFile, etag: string): Record<string, string> {
  return {
    'Content-Type': file.mediatype,
    'Content-Disposition': `inline; filename="${file.filename}"`,
    'Accept-Ranges': 'bytes',
    ETag: etag,
    'Cache-Control': CACHE_CONTROL,
    'Content-Security-Policy': POLICY,
    'Cross-Origin-Resource-Policy': 'cross-origin',
    'X-Content-Type-Options': 'nosniff',
  };
}

/** The object's bytes; undefined when it was removed since its row was read. */
async function open(storage: ObjectStorage, key: string, range?: ByteRange) {
  try {
    return await storage.get(key, range);
  } catch (error) {
    if (error instanceof ObjectNotFound) return undefined;
    throw error;
  }
}

function missing(c: Context): Response {
  return c.text('There is no such file, or it is no longer published.', 404, { 'Cache-Control': 'no-store' });
}
