import { readFile, realpath, stat } from 'node:fs/promises';
import { extname, join, sep } from 'node:path';
import { getMimeType, mimes } from 'hono/utils/mime';
import { ConfigError } from '../../setting/value-kinds.ts';

export interface WebAppFile {
  content: Uint8Array<ArrayBuffer>;
  type: string;
}

const INDEX = 'index.html';
const MAX_BYTES = 64 * 2 ** 20;
const TYPES = { ...mimes, toml: 'application/toml; charset=utf-8' };
/** A name of a file or folder: not hidden, no path separators. */
const SEGMENT = /^[^./\\\0][^/\\\0]*$/;

/** A folder with a built web application. */
export class WebAppFolder {
  readonly #root: string;

  private constructor(root: string) {
    this.#root = root;
  }

  /** @throws {ConfigError} when the folder holds no application */
  static async open(path: string, variable: string): Promise<WebAppFolder> {
    const root = await realpath(path).catch(() => undefined);
    const index = await stat(join(root ?? path, INDEX)).catch(() => undefined);
    if (root !== undefined && index?.isFile()) return new WebAppFolder(root);
    throw new ConfigError(
      `${variable} is ${JSON.stringify(path)}; allowed is a folder that holds a built application, with an ${INDEX}.`,
    );
  }

  /** Returns a file by its path, or the index page for a route of the application. */
  async find(path: string): Promise<WebAppFile | undefined> {
    const segments = path.split('/').filter((segment) => segment !== '');
    if (!segments.every((segment) => SEGMENT.test(segment))) return undefined;
    const isPage = segments.length === 0 || extname(path) === '';
    return (await this.#read(segments)) ?? (isPage ? this.#read([INDEX]) : undefined);
  }

  async #read(segments: readonly string[]): Promise<WebAppFile | undefined> {
    const path = await realpath(join(this.#root, ...segments)).catch(() => undefined);
    // A symbolic link may lead out of the folder.
    if (!path?.startsWith(this.#root + sep)) return undefined;
    const found = await stat(path);
    if (!found.isFile() || found.size > MAX_BYTES) return undefined;
    const content = new Uint8Array(await readFile(path));
    return { content, type: getMimeType(path, TYPES) ?? 'application/octet-stream' };
  }
}
