import type { Context, MiddlewareHandler } from 'hono';
import { html } from 'hono/html';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import { z } from 'zod';
import { WRONG_PASSWORD } from '#access/access-errors.ts';
import type { Sessions } from '#access/sessions/sessions.ts';
import type { Authenticator } from '#access/sign-in/authenticator.ts';
import { BASE_STYLE, type Html, pagePolicy, titledPage } from '#platform/http/answer/html-page.ts';
import { defineEndpoint } from '#platform/http/endpoint/endpoint.ts';
import { HttpError, PLAIN_TEXT } from '#platform/http/errors/errors.ts';
import { remoteAddress } from '#platform/http/server/client-address.ts';
import { relativeTo, rootFrom } from '../urls/relative-urls.ts';

/** The page after a sign-in without `next`. */
const START = '/admin';
/** A path with or without a query. A second slash, or a backslash, would begin a host name. */
const OWN = /^\/(?![/\\])[\x21-\x5b\x5d-\x7e]*$/;

/** Returns the path to show after a sign-in. The URL of another site leads to the dashboard. */
export function destination(next: string | undefined): string {
  return next !== undefined && OWN.test(next) ? next : START;
}

const STYLE = `${BASE_STYLE}
main { max-width: 27rem; }
form { margin-top: 1.5rem; }
label { display: block; margin-top: 1rem; }
[role=alert] { padding: .6rem .8rem; border: 1px solid var(--alarm); border-radius: .6rem; color: var(--alarm); }
`;

/** Returns the headers of the pages of this file: they must not be cached. @param frames the sites that may frame them */
function pageHeaders(frames: "'none'" | '*') {
  const directives = ['img-src data:', "form-action 'self'", `frame-ancestors ${frames}`];
  return { 'Cache-Control': 'no-store', 'Content-Security-Policy': pagePolicy({ style: STYLE }, ...directives) };
}

const PAGE_HEADERS = pageHeaders("'none'");

const frame = (title: string, content: Html) => titledPage(title, content, STYLE);

/** The state of the sign-in form. */
interface SignInForm {
  action: string;
  next: string;
  username?: string;
  /** Why the last attempt failed. */
  fault?: string;
}

/** The sign-in page. It works without scripts. */
function signInPage({ action, next, username = '', fault }: SignInForm): Html {
  return frame(
    'Sign in',
    html`${fault === undefined ? '' : html`<p role="alert">${fault}</p>`}
<form method="post" action="${action}">
<input type="hidden" name="next" value="${next}">
<label>User name
<input name="username" value="${username}" required ${username ? '' : 'autofocus'} autocomplete="username" autocapitalize="none" spellcheck="false"></label>
<label>Password
<input name="password" type="password" required ${username ? 'autofocus' : ''} autocomplete="current-password"></label>
<button>Sign in</button>
</form>`,
  );
}

/** A page with the reason of a refused request, a link back or to the home page, and a button to sign out. */
function refusalPage(
  sentence: string,
  { username, root, back }: { username: string | undefined; root: string; back: string | undefined },
): Html {
  return frame(
    'Request failed',
    html`<p>${sentence}</p>
<p>${back === undefined ? html`<a href="${root}">Home</a>` : html`<a href="${back}">Back</a>`}</p>
${
  username === undefined
    ? ''
    : html`<form method="post" action="${root}sign-out"><p>Signed in as <strong>${username}</strong></p>
<button>Sign out</button></form>`
}`,
  );
}

function wantsPage(c: Context): boolean {
  return /\btext\/html\b/i.test(c.req.header('Accept') ?? '');
}

/** Returns the URL of the page whose form was sent. */
function formPage(c: Context): string | undefined {
  const referrer = c.req.header('Referer');
  if (c.req.method !== 'POST' || c.req.header('Sec-Fetch-Site') !== 'same-origin') return undefined;
  if (!referrer || !URL.canParse(referrer)) return undefined;
  const { pathname, search } = new URL(referrer);
  // Two slashes would begin a host name.
  return `${pathname.replace(/^\/+/, '/')}${search}`;
}

/**
 * Turns errors into pages for browsers, and keeps pages out of their cache: none is left after signing out.
 *
 * @param options.frames the sites that may frame the pages
 */
export function htmlErrorPages({ frames = "'none'" }: { frames?: "'none'" | '*' } = {}): MiddlewareHandler {
  return async (c, next) => {
    await next();
    const { headers, status } = c.res;
    if (status >= 400 && headers.get('Content-Type') === PLAIN_TEXT && wantsPage(c)) {
      const page = refusalPage(await c.res.text(), {
        username: c.get('inSession') ? c.get('account') : undefined,
        root: rootFrom(c),
        back: formPage(c),
      });
      // The page reloads until the service answers again.
      const isOutage = status === 503 && c.req.method === 'GET';
      c.res = await c.html(page, status as ContentfulStatusCode, {
        ...pageHeaders(frames),
        ...(isOutage && { Refresh: '15' }),
      });
    }
    const isPage = c.res.headers.get('Content-Type')?.startsWith('text/html');
    if (isPage && !c.res.headers.has('Cache-Control')) c.header('Cache-Control', 'no-store');
  };
}

/** Redirects browsers without a session to the sign-in page; other clients get 401. Runs after `authenticate`. */
export function redirectToSignIn(): MiddlewareHandler {
  return async (c, next) => {
    const isRead = c.req.method === 'GET' || c.req.method === 'HEAD';
    if (c.get('account') !== undefined || !isRead || !wantsPage(c)) {
      return next();
    }
    if (c.req.header('Sec-Fetch-Site') === 'cross-site') {
      // Browsers omit the session cookie after a link on another site, and send it when this page reloads.
      const waitingPage = frame('One moment', html`<p><a href="">Continue</a></p>`);
      return c.html(waitingPage, 200, { ...PAGE_HEADERS, Refresh: '0' });
    }
    const { pathname, search } = new URL(c.req.url);
    c.header('Cache-Control', 'no-store');
    return c.redirect(`${relativeTo(c, '/sign-in')}?next=${encodeURIComponent(pathname + search)}`, 303);
  };
}

interface Services {
  authenticator: Authenticator;
  sessions: Sessions;
}

const PATH = '/sign-in';

/** Shows the sign-in form. */
export const signInForm = defineEndpoint({
  method: 'get',
  path: PATH,
  access: 'public',
  query: z.object({ next: z.string().optional() }),
  handle: ({ c, query }) => {
    const next = destination(query().next);
    return c.html(signInPage({ action: relativeTo(c, PATH), next }), 200, PAGE_HEADERS);
  },
});

/** Signs in. Attempts are throttled, and an unknown name and a wrong password get the same answer. */
export const signIn = defineEndpoint({
  method: 'post',
  path: PATH,
  access: 'public',
  form: {
    schema: z.object({ username: z.string(), password: z.string(), next: z.string().optional() }),
    // Anyone may send it.
    maxBytes: 16 * 1024,
    example: { username: 'admin', password: 'secret' },
  },
  handle: async ({ c, form }, { authenticator, sessions }: Services) => {
    const { username, password, next } = await form();
    const wanted = destination(next);
    try {
      const possible = !`${username}${password}`.includes('\0');
      const account = possible && (await authenticator.signIn(username, password, remoteAddress(c)));
      if (!account) throw WRONG_PASSWORD();
      c.set('account', username);
      await sessions.begin(c, account);
      return c.redirect(relativeTo(c, wanted), 303);
    } catch (error) {
      if (!(error instanceof HttpError)) throw error;
      const { status, message, headers } = error;
      const { 'WWW-Authenticate': _, ...kept } = headers;
      const page = signInPage({ action: relativeTo(c, PATH), next: wanted, username, fault: message });
      return c.html(page, status, { ...kept, ...PAGE_HEADERS });
    }
  },
});

export const signOut = defineEndpoint({
  method: 'post',
  path: '/sign-out',
  access: 'public',
  handle: async ({ c }, { sessions }: Services) => {
    await sessions.end(c);
    return c.redirect(relativeTo(c, PATH), 303);
  },
});
