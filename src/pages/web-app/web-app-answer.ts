import { createHash } from 'node:crypto';
import type { Context } from 'hono';
import { matchesNone, strongEtag } from '#platform/http/answer/etag.ts';
import type { WebAppFile, WebAppFolder } from '#platform/http/answer/web-app-folder.ts';
import { notFound } from '#platform/http/errors/errors.ts';

const INLINE_SCRIPT = /<script(?![^>]*\ssrc=)[^>]*>([\s\S]*?)<\/script>/gi;
/** Media and workers from memory, and styles that are computed at run time. */
const POLICY = [
  "default-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data: blob:",
  "media-src 'self' data: blob:",
  "connect-src 'self' data: blob:",
  "worker-src 'self' blob:",
  "font-src 'self' data:",
  "object-src 'none'",
  "base-uri 'self'",
  "form-action 'self'",
  "frame-ancestors 'none'",
];

/** A built web application in a folder of the site. */
export interface WebApp {
  /** Without a trailing slash. */
  path: string;
  folder: WebAppFolder;
  /** The file with its settings, the settings that apply without one, and what marks settings of another server. */
  settings: { file: string; usual: string; foreign?: RegExp };
  /** Headers of its page. */
  pageHeaders?: Readonly<Record<string, string>>;
}

/** Answers a request below the path of an application with a file, or with its page. @throws {HttpError} 404 */
export async function webAppAnswer(c: Context, app: WebApp): Promise<Response> {
  const { pathname, search } = new URL(c.req.url);
  // Relative URLs in the page need the final slash, which the router removes.
  if (pathname.endsWith(app.path)) return c.redirect(`${app.path.slice(1)}/${search}`, 301);
  const path = pathBelow(pathname, app.path);
  if (path === app.settings.file) return settingsAnswer(c, app);
  const file = path === undefined ? undefined : await app.folder.find(path);
  if (file) return answer(c, file, app);
  throw notFound();
}

/** Answers with the settings of an application. */
export async function settingsAnswer(c: Context, { folder, settings }: WebApp): Promise<Response> {
  const file = await folder.find(settings.file);
  const own = file && new TextDecoder().decode(file.content);
  const text = own === undefined || settings.foreign?.test(own) ? settings.usual : own;
  const headers = { 'Cache-Control': 'no-cache', 'Content-Type': 'application/toml; charset=utf-8' };
  return c.body(text, 200, headers);
}

function answer(c: Context, { content, type }: WebAppFile, { pageHeaders }: WebApp): Response {
  const digest = createHash('sha256').update(content).digest('base64url');
  const headers = {
    ETag: strongEtag(digest),
    'Cache-Control': 'no-cache',
    'Content-Type': type,
    ...(type.startsWith('text/html') && {
      'Content-Security-Policy': policyOf(new TextDecoder().decode(content)),
      ...pageHeaders,
    }),
  };
  if (matchesNone(c.req.header('If-None-Match'), headers.ETag)) return c.body(null, 304, headers);
  return c.body(content, 200, headers);
}

/** Allows the inline scripts of the page by their hashes, and no others. */
function policyOf(page: string): string {
  const scripts = [...page.matchAll(INLINE_SCRIPT)].map(
    ([, script = '']) => `'sha256-${createHash('sha256').update(script).digest('base64')}'`,
  );
  return [`script-src 'self' 'wasm-unsafe-eval' ${scripts.join(' ')}`.trim(), ...POLICY].join('; ');
}

function pathBelow(pathname: string, base: string): string | undefined {
  try {
    const path = decodeURIComponent(pathname);
    return path.slice(path.indexOf(`${base}/`) + base.length + 1);
  } catch {
    return undefined;
  }
}
