import { readFile, realpath, stat } from 'node:fs/promises';
import { extname, join, sep } from 'node:path';
import { ConfigError } from '../../setting/config-error.ts';

/** A file of it, as it is served. */
export interface WebAppFile {
  content: Uint8Array<ArrayBuffer>;
  type: string;
}

const INDEX = 'index.html';
/** Built applications hold no larger ones. */
const MAX_BYTES = 64 * 2 ** 20;
const UNKNOWN_TYPE = 'application/octet-stream';
const TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.gif': 'image/gif',
  '.html': 'text/html; charset=utf-8',
  '.ico': 'image/x-icon',
  '.jpg': 'image/jpeg',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json',
  '.map': 'application/json',
  '.mjs': 'text/javascript; charset=utf-8',
  '.mp3': 'audio/mpeg',
  '.mp4': 'video/mp4',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.toml': 'application/toml; charset=utf-8',
  '.ttf': 'font/ttf',
  '.txt': 'text/plain; charset=utf-8',
  '.wasm': 'application/wasm',
  '.webm': 'video/webm',
  '.webmanifest': 'application/manifest+json',
  '.webp': 'image/webp',
  '.woff': 'font/woff',
  '.woff2': 'font/woff2',
};
/** What a file or a folder may be called: nothing hidden, and no way out. */
const SEGMENT = /^[^./\\\0][^/\\\0]*$/;

/** A folder with a built application for browsers. */
export class WebAppFolder {
  readonly #root: string;

  private constructor(root: string) {
    this.#root = root;
  }

  /**
   * @param variable that names the folder, such as STUDIO_DIR
   * @throws {ConfigError} when the folder holds no application
   */
  static async open(path: string, variable: string): Promise<WebAppFolder> {
    const root = await realpath(path).catch(() => undefined);
    const index = await stat(join(root ?? path, INDEX)).catch(() => undefined);
    if (root !== undefined && index?.isFile()) return new WebAppFolder(root);
    throw new ConfigError(
      `${variable} is ${JSON.stringify(path)}; allowed is a folder that holds a built application, with an ${INDEX}.`,
    );
  }

  /**
   * A file by its path, or the page of the application for an address that it makes of its own.
   *
   * @param path decoded, without a slash at its beginning
   * @returns undefined when there is none
   */
  async find(path: string): Promise<WebAppFile | undefined> {
    const segments = path.split('/').filter((segment) => segment !== '');
    if (!segments.every((segment) => SEGMENT.test(segment))) return undefined;
    const isPage = segments.length === 0 || extname(path) === '';
    return (await this.#read(segments)) ?? (isPage ? this.#read([INDEX]) : undefined);
  }

  async #read(segments: readonly string[]): Promise<WebAppFile | undefined> {
    const path = await realpath(join(this.#root, ...segments)).catch(() => undefined);
    // A link may lead anywhere.
    if (!path?.startsWith(this.#root + sep)) return undefined;
    const found = await stat(path);
    if (!found.isFile() || found.size > MAX_BYTES) return undefined;
    const content = new Uint8Array(await readFile(path));
    return { content, type: TYPES[extname(path).toLowerCase()] ?? UNKNOWN_TYPE };
  }
}
