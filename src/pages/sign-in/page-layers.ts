import type { Context, MiddlewareHandler } from 'hono';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import { relativeTo } from '#access/sessions/addresses.ts';
import { SENTENCE } from '#platform/http/errors/errors.ts';
import { PAGE_HEADERS, refusalPage, waitingPage } from './sign-in-page.ts';

/** Whether a browser wants to show the answer to a person. */
function wantsPage(c: Context): boolean {
  return /\btext\/html\b/i.test(c.req.header('Accept') ?? '');
}

/** The page of ours whose form was sent, as its browser calls it. */
function cameFrom(c: Context): string | undefined {
  const referrer = c.req.header('Referer');
  if (c.req.method !== 'POST' || c.req.header('Sec-Fetch-Site') !== 'same-origin') return undefined;
  if (!referrer || !URL.canParse(referrer)) return undefined;
  const { pathname, search } = new URL(referrer);
  // Two slashes would be another host.
  return `${pathname.replace(/^\/+/, '/')}${search}`;
}

/** Shows sentences as pages to whoever wants one, and leaves no page behind in the browser after signing out. */
export function forPeople(): MiddlewareHandler {
  return async (c, next) => {
    await next();
    const { headers, status } = c.res;
    if (status >= 400 && headers.get('Content-Type') === SENTENCE && wantsPage(c)) {
      const page = refusalPage(await c.res.text(), {
        username: c.get('inSession') ? c.get('account') : undefined,
        signOut: relativeTo(c, '/sign-out'),
        back: cameFrom(c),
      });
      // Whoever waits before it sees when it is over.
      const isAwaited = status === 503 && c.req.method === 'GET';
      c.res = await c.html(page, status as ContentfulStatusCode, {
        ...PAGE_HEADERS,
        ...(isAwaited && { Refresh: '15' }),
      });
    }
    const isPage = c.res.headers.get('Content-Type')?.startsWith('text/html');
    if (isPage && !c.res.headers.has('Cache-Control')) c.header('Cache-Control', 'no-store');
  };
}

/**
 * Leads people who are not signed in to the page where they do; programs go on, to be refused with 401. Runs after
 * `authenticate`.
 */
export function askToSignIn(): MiddlewareHandler {
  return async (c, next) => {
    const reading = c.req.method === 'GET' || c.req.method === 'HEAD';
    if (c.get('account') !== undefined || !reading || !wantsPage(c)) {
      return next();
    }
    if (c.req.header('Sec-Fetch-Site') === 'cross-site') {
      // Who followed a link of another site may be signed in: the cookie comes when our own page asks.
      return c.html(waitingPage(), 200, { ...PAGE_HEADERS, Refresh: '0' });
    }
    const { pathname, search } = new URL(c.req.url);
    return c.redirect(`${relativeTo(c, '/sign-in')}?next=${encodeURIComponent(pathname + search)}`, 303);
  };
}
