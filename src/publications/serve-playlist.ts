import { createHash } from 'node:crypto';
import type { Context } from 'hono';
import { matchesNone, strongEtag } from '#platform/http/answer/etag.ts';
import { acceptsGzip, compress } from '#platform/http/answer/gzip.ts';
import { parseFragmentIndex } from '#platform/media/fragment-index.ts';
import { mediaPlaylist } from '#platform/media/hls-playlists.ts';
import type { ObjectStorage } from '#platform/storage/object-storage.ts';
import type { findPublishedFile } from './publication.queries.ts';
import { PLAYLIST, renditionProperties } from './publication.ts';
import { readStorage } from './serve-file.ts';

/** Signs an absolute URL. */
export type SignAddress = (url: string) => string;

interface PlaylistAnswer {
  /** The public address of the playlist. */
  url: string;
  /** Signs what the playlist names; undefined to leave it unsigned. */
  sign: SignAddress | undefined;
  headers: Readonly<Record<string, string>>;
}

/**
 * Answers with a playlist whose text is made for the request: a stored one that is signed, or that of a rendition, made
 * from the index at the front of its file. It is compressed for clients that accept gzip: an hour has 120 KB, and 780 KB
 * signed, which would delay the first picture on a slow line by seconds.
 *
 * @returns undefined when the object has been removed since its row was read
 */
export async function servePlaylist(
  c: Context,
  storage: ObjectStorage,
  file: NonNullable<Awaited<ReturnType<typeof findPublishedFile>>>,
  { url, sign, headers }: PlaylistAnswer,
): Promise<Response | undefined> {
  const isStored = file.mediatype === PLAYLIST;
  const range = isStored ? undefined : { start: 0, end: renditionProperties(file.properties).headBytes - 1 };
  const plain = await readStorage(c, file.object_key, async () => {
    const bytes = Buffer.from(await new Response(await storage.get(file.object_key, range)).arrayBuffer());
    return isStored ? bytes.toString() : mediaPlaylist(file.filename, parseFragmentIndex(bytes));
  });
  if (plain === undefined) return undefined;
  const text = sign ? signPlaylist(plain, url, sign) : plain;
  const isGzipped = acceptsGzip(c);
  const etag = strongEtag(createHash('sha256').update(text).digest('hex') + (isGzipped ? '-gzip' : ''));
  const common = { 'Content-Type': PLAYLIST, ETag: etag, Vary: 'Accept-Encoding', ...headers };
  if (matchesNone(c.req.header('If-None-Match'), etag)) return c.body(null, 304, common);
  const content = isGzipped ? new Uint8Array(await compress(text)) : new TextEncoder().encode(text);
  const encoding = isGzipped ? { 'Content-Encoding': 'gzip' } : undefined;
  return c.body(content, 200, { ...common, ...encoding, 'Content-Length': String(content.length) });
}

/**
 * Signs each address that a playlist names. They are relative to the URL of the playlist, and stay so. An address is
 * signed once: all segments of a rendition are ranges of one file, and an hour has 1800.
 */
export function signPlaylist(text: string, url: string, sign: SignAddress): string {
  const known = new Map<string, string>();
  const signed = (uri: string) => {
    const found = known.get(uri) ?? `${uri}${new URL(sign(new URL(uri, url).href)).search}`;
    known.set(uri, found);
    return found;
  };
  return text
    .split('\n')
    .map((line) => {
      if (line.startsWith('#')) return line.replace(/URI="([^"]+)"/, (_, uri: string) => `URI="${signed(uri)}"`);
      return line === '' ? line : signed(line);
    })
    .join('\n');
}
