import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { strongEtag } from '../http/answer/etag.ts';
import { startReference } from './docs.browser.ts';

/** A file of the reference page. */
export interface Asset {
  content: Uint8Array<ArrayBuffer>;
  type: string;
  etag: string;
}

const SCRIPT = 'text/javascript; charset=utf-8';
/** What of the package the page needs, and its media type. */
const PACKAGED: Readonly<Record<string, string>> = {
  'swagger-ui.css': 'text/css; charset=utf-8',
  'swagger-ui-bundle.js': SCRIPT,
  'favicon-32x32.png': 'image/png',
};
/** The function is sent as the text the runtime has of it, types taken out. */
const START = `(${startReference})();\n`;

const loaded = new Map<string, Promise<Asset>>();

/** A file of the page by its name; undefined when there is none. Each is read once. */
export function assetNamed(name: string): Promise<Asset> | undefined {
  const known = loaded.get(name);
  if (known) return known;
  if (name !== 'start.js' && !Object.hasOwn(PACKAGED, name)) return undefined;
  const loading = load(name);
  loaded.set(name, loading);
  loading.catch(() => loaded.delete(name));
  return loading;
}

async function load(name: string): Promise<Asset> {
  const content = name === 'start.js' ? new TextEncoder().encode(START) : await packaged(name);
  const etag = strongEtag(createHash('sha256').update(content).digest('base64url'));
  return { content, etag, type: PACKAGED[name] ?? SCRIPT };
}

async function packaged(name: string): Promise<Uint8Array<ArrayBuffer>> {
  return new Uint8Array(await readFile(createRequire(import.meta.url).resolve(`swagger-ui-dist/${name}`)));
}
