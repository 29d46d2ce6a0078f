import { createHash } from 'node:crypto';
import { type Context, Hono } from 'hono';
import { matchesNone, strongEtag } from '#platform/http/answer/etag.ts';
import type { WebAppFile, WebAppFolder } from '#platform/http/answer/web-app-folder.ts';
import { notFound } from '#platform/http/errors/errors.ts';

const SETTINGS = 'settings.toml';
/** The recorder uses the server it was loaded from, with the session of the user. */
const OUR_SETTINGS = `[opencast]
serverUrl = "/"
loginProvided = true
`;
const INLINE_SCRIPT = /<script(?![^>]*\ssrc=)[^>]*>([\s\S]*?)<\/script>/gi;
/** The recorder previews recordings from memory and computes styles at run time. */
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
const DEVICES = 'camera=(self), microphone=(self), display-capture=(self), fullscreen=(self)';

/** Serves the recorder for browsers below `/studio/`, if its folder is configured. */
export function studioPages(folder: WebAppFolder | undefined): Hono {
  const app = new Hono();
  if (!folder) return app;
  app.get('/studio/*', async (c) => {
    // Relative URLs in the page need the final slash, which the router removes.
    if (new URL(c.req.url).pathname.endsWith('/studio')) return c.redirect('studio/', 301);
    const path = pathOf(c);
    const file = path === undefined ? undefined : await folder.find(path);
    if (path === SETTINGS && !file) return c.body(OUR_SETTINGS, 200, { 'Content-Type': 'application/toml' });
    if (!file) throw notFound();
    return answer(c, file);
  });
  return app;
}

function answer(c: Context, { content, type }: WebAppFile): Response {
  const digest = createHash('sha256').update(content).digest('base64url');
  const headers = {
    ETag: strongEtag(digest),
    'Cache-Control': 'no-cache',
    'Content-Type': type,
    ...(type.startsWith('text/html') && {
      'Content-Security-Policy': policyOf(new TextDecoder().decode(content)),
      'Permissions-Policy': DEVICES,
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

function pathOf(c: Context): string | undefined {
  try {
    return decodeURIComponent(new URL(c.req.url).pathname).replace(/^.*?\/studio\//, '');
  } catch {
    return undefined;
  }
}
