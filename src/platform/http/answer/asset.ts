import { createHash } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type { Context } from 'hono';
import { notFound } from '../errors/errors.ts';
import { matchesNone, strongEtag } from './etag.ts';
import { acceptsGzip, compress } from './gzip.ts';

interface Asset {
  type: string;
  plain: Encoded;
  gzipped: Encoded;
}

interface Encoded {
  content: Uint8Array<ArrayBuffer>;
  etag: string;
}

export const SCRIPT_TYPE = 'text/javascript; charset=utf-8';

/** The media type of a file, and where it is. */
interface AssetSource {
  type: string;
  path(): string | URL;
}

/** Files of a page by name, loaded at the first request. */
export class Assets {
  readonly #sources: Readonly<Record<string, AssetSource>>;
  readonly #loaded = new Map<string, Promise<Asset>>();

  constructor(sources: Readonly<Record<string, AssetSource>>) {
    this.#sources = sources;
  }

  /** Responds with a file, or 304 when the client has it. @throws {HttpError} 404 */
  async answer(c: Context, name: string): Promise<Response> {
    const asset = await this.#find(name);
    if (!asset) throw notFound();
    const isGzipped = acceptsGzip(c);
    const { content, etag } = isGzipped ? asset.gzipped : asset.plain;
    const headers = {
      ETag: etag,
      Vary: 'Accept-Encoding',
      'Cache-Control': 'no-cache',
      // A page in a frame without `allow-same-origin` has an opaque origin, and modules are fetched with CORS.
      'Access-Control-Allow-Origin': '*',
    };
    if (matchesNone(c.req.header('If-None-Match'), etag)) return c.body(null, 304, headers);
    const encoding = isGzipped ? { 'Content-Encoding': 'gzip' } : undefined;
    return c.body(content, 200, { ...headers, ...encoding, 'Content-Type': asset.type });
  }

  #find(name: string): Promise<Asset> | undefined {
    const known = this.#loaded.get(name);
    if (known) return known;
    const source = Object.hasOwn(this.#sources, name) ? this.#sources[name] : undefined;
    if (!source) return undefined;
    const loading = loadAsset(source);
    this.#loaded.set(name, loading);
    loading.catch(() => this.#loaded.delete(name));
    return loading;
  }
}

/** Returns a file of an npm package, such as `package/path`. */
export function packageFile(file: string, type: string): AssetSource {
  return { type, path: () => createRequire(import.meta.url).resolve(file) };
}

async function loadAsset({ type, path }: AssetSource): Promise<Asset> {
  const bytes = await readFile(path());
  const digest = createHash('sha256').update(bytes).digest('base64url');
  const encoded = (content: Buffer, suffix: string) => ({
    content: new Uint8Array(content),
    etag: strongEtag(digest + suffix),
  });
  return { type, plain: encoded(bytes, ''), gzipped: encoded(await compress(bytes), '-gzip') };
}

/**
 * Lists the ES modules of a folder, which ends in a slash, for `Assets`. They are served as written. Listed once, so
 * that a name from a client never becomes a path.
 */
export function browserModules(folder: URL): Record<string, AssetSource> {
  const names = readdirSync(folder).filter((name) => name.endsWith('.js'));
  return Object.fromEntries(names.map((name) => [name, { type: SCRIPT_TYPE, path: () => new URL(name, folder) }]));
}
