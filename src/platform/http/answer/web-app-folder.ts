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

export type WebAppFolder = Awaited<ReturnType<typeof openWebAppFolder>>;

/** Opens a folder with a built web application. @throws {ConfigError} when it holds none */
export async function openWebAppFolder(path: string, variable: string) {
  const root = await realpath(path).catch(() => undefined);
  const index = await stat(join(root ?? path, INDEX)).catch(() => undefined);
  if (root === undefined || !index?.isFile()) {
    throw new ConfigError(
      `${variable} is ${JSON.stringify(path)}; allowed is a folder that holds a built application, with an ${INDEX}.`,
    );
  }
  return {
    /** Returns a file by its path, or the index page for a route of the application. */
    find: async (name: string): Promise<WebAppFile | undefined> => {
      const segments = name.split('/').filter((segment) => segment !== '');
      if (!segments.every((segment) => SEGMENT.test(segment))) return undefined;
      const isPage = segments.length === 0 || extname(name) === '';
      return (await readBelow(root, segments)) ?? (isPage ? readBelow(root, [INDEX]) : undefined);
    },
  };
}

async function readBelow(root: string, segments: readonly string[]): Promise<WebAppFile | undefined> {
  const path = await realpath(join(root, ...segments)).catch(() => undefined);
  // A symbolic link may lead out of the folder.
  if (!path?.startsWith(root + sep)) return undefined;
  const found = await stat(path);
  if (!found.isFile() || found.size > MAX_BYTES) return undefined;
  const content = new Uint8Array(await readFile(path));
  return { content, type: getMimeType(path, TYPES) ?? 'application/octet-stream' };
}
