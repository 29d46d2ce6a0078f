import type { Context } from 'hono';
import { allowsRange, matchesNone, strongEtag } from '#platform/http/answer/etag.ts';
import { PLAIN_TEXT, refusal } from '#platform/http/errors/errors.ts';
import { ObjectNotFound, type ObjectStorage } from '#platform/storage/object-storage.ts';
import { requestedRange } from '#platform/storage/requested-range.ts';

export const RANGE_NOT_SATISFIABLE = refusal(416, 'The range is outside the file.');
export const STORAGE_UNAVAILABLE = refusal(503, 'The object storage does not answer.', [], { 'Retry-After': '30' });

/** A stored file and the facts for its response. */
export interface ServedFile {
  object_key: string;
  mediatype: string;
  /** Bytes. */
  size: number;
  /** Null until the whole file has been read. */
  sha256: string | null;
}

/**
 * Answers `GET` or `HEAD` with a file or the requested range of it, streamed from the object storage.
 *
 * @param headers in addition to those of the file
 * @returns undefined when the object has been removed since its row was read
 */
export async function serveFile(
  c: Context,
  storage: ObjectStorage,
  file: ServedFile,
  headers: Readonly<Record<string, string>>,
): Promise<Response | undefined> {
  const etag = strongEtag(file.sha256 ?? file.object_key);
  const common = { 'Content-Type': file.mediatype, 'Accept-Ranges': 'bytes', ETag: etag, ...headers };
  if (matchesNone(c.req.header('If-None-Match'), etag)) return c.body(null, 304, common);

  const whole = { ...common, 'Content-Length': String(file.size) };
  if (c.req.method === 'HEAD') return c.body(null, 200, whole);

  const range = allowsRange(c.req.header('If-Range'), etag) ? requestedRange(c.req.header('Range'), file.size) : 'all';
  if (range === 'unsatisfiable') {
    return c.body(RANGE_NOT_SATISFIABLE.example, 416, {
      'Content-Type': PLAIN_TEXT,
      'Cache-Control': 'no-store',
      'Content-Range': `bytes */${file.size}`,
    });
  }
  const part = range === 'all' ? undefined : range;
  const body = await readStorage(c, file.object_key, () => storage.get(file.object_key, part));
  if (!body) return undefined;
  if (range === 'all') return c.body(body, 200, whole);
  return c.body(body, 206, {
    ...common,
    'Content-Length': String(range.end - range.start + 1),
    'Content-Range': `bytes ${range.start}-${range.end}/${file.size}`,
  });
}

/**
 * Runs a function that reads an object for an answer.
 *
 * @returns undefined when the object has been removed
 * @throws STORAGE_UNAVAILABLE when it cannot be read
 */
export async function readStorage<T>(c: Context, key: string, read: () => Promise<T>): Promise<T | undefined> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof ObjectNotFound) return undefined;
    c.get('log').error({ err: error, key }, 'a file could not be read from the object storage');
    throw STORAGE_UNAVAILABLE();
  }
}
