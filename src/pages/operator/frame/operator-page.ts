import type { Context } from 'hono';
import { deleteCookie, getCookie, setCookie } from 'hono/cookie';
import { html, raw } from 'hono/html';
import { Assets, browserModules, packageFile, SCRIPT_TYPE } from '#platform/http/answer/asset.ts';
import { type Html, ICON, page, pagePolicy } from '#platform/http/answer/html-page.ts';
import { defineEndpoint } from '#platform/http/endpoint/endpoint.ts';
import { rootFrom } from '../../urls/relative-urls.ts';
import { FRAME_STYLE } from './operator-style.ts';

/** The pages for operators, in the order of the navigation. */
const PAGES = [
  ['admin', 'Dashboard'],
  ['admin/recordings', 'Recordings'],
  ['admin/trends', 'Trends'],
  ['admin/parts', 'System'],
  ['admin/agents', 'Agents'],
  ['admin/uploads', 'Uploads'],
  ['admin/webhooks', 'Webhooks'],
  ['admin/queues/', 'Queues'],
  ['docs', 'API'],
] as const;

const ASSETS = new Assets({
  ...browserModules(new URL('./browser/', import.meta.url)),
  'idiomorph.js': packageFile('idiomorph/dist/idiomorph.min.js', SCRIPT_TYPE),
});

/** The scripts of the pages for operators. They hold nothing confidential. */
export const operatorAsset = defineEndpoint({
  method: 'get',
  path: '/admin/assets/{name}',
  access: 'public',
  handle: ({ c, params }) => ASSETS.answer(c, params.name),
});

const NOTICE = 'inlet_notice';
const NOTICE_COOKIE = { path: '/', httpOnly: true, sameSite: 'Strict' } as const;

/** The content of a page for operators. */
export interface OperatorPage {
  title: string | Html;
  /** The title of the window, if `title` is markup. */
  name?: string;
  /** Elements with an `id` and the attribute `data-live` are updated while the page is open. */
  content: Html;
  /** Rules in addition to the shared ones. */
  style?: string;
  /** The entry of the navigation that is marked. */
  current: (typeof PAGES)[number][0];
  /** Updates the page after these changes, given as a filter of `/api/updates`. */
  follows?: string;
  /** A browser module that the page loads. */
  script?: string;
  /** Seconds after which the browser reloads the page. */
  refresh?: string | undefined;
}

/** Answers with a page for operators. It loads nothing from other hosts and works without scripts. */
export function operatorPage(
  c: Context,
  { title, name, content, style = '', current, follows, script, refresh }: OperatorPage,
): Response | Promise<Response> {
  const root = rootFrom(c);
  const notice = noticeOf(c);
  const parts = { style: FRAME_STYLE + style };
  const whole = html`<a class="skip" href="#content">Skip to content</a>
<header class="frame"><a class="brand" href="${root}admin"><img src="${raw(ICON)}" alt=""><span>Inlet</span></a>
<nav aria-label="Pages for operators">${PAGES.map(
    ([path, name]) => html`<a href="${root}${path}"${path === current ? raw(' aria-current="page"') : ''}>${name}</a>`,
  )}</nav>
${signedIn(c, root)}</header>
<main id="content"${follows === undefined ? '' : html` data-updates="${root}api/updates?filter=${follows}"`}>
<h1>${title}</h1>
${follows === undefined ? '' : html`<p class="alarm" id="stale" role="status" hidden></p>`}
${notice === undefined ? '' : html`<p class="notice" role="status">${notice}</p>`}
${content}
</main>
${follows === undefined ? '' : html`<script src="${root}admin/assets/idiomorph.js"></script><script type="module" src="${root}admin/assets/page-updates.js"></script>`}
${script === undefined ? '' : html`<script type="module" src="${root}admin/assets/${script}"></script>`}`;
  return c.html(page(`${name ?? title} · Inlet`, whole, parts), 200, {
    'Content-Security-Policy': pagePolicy(
      parts,
      "img-src 'self' data:",
      ...(follows === undefined && script === undefined ? [] : ["script-src 'self'"]),
      ...(follows === undefined ? [] : ["connect-src 'self'"]),
      "form-action 'self'",
      "frame-ancestors 'none'",
    ),
    'Cache-Control': 'no-store',
    // URLs hold names, which other hosts must not get.
    'Referrer-Policy': 'same-origin',
    ...(refresh !== undefined && { Refresh: refresh }),
  });
}

/** Redirects to a page and shows the result of an action there. @param to relative to the root, without a leading slash */
export function redirectWithNotice(c: Context, to: string, notice: string): Response {
  // In the URL, links on other sites could set one.
  setCookie(c, NOTICE, notice.slice(0, 300).toWellFormed(), { ...NOTICE_COOKIE, maxAge: 60 });
  return c.redirect(rootFrom(c) + to, 303);
}

/** Returns the notice of `redirectWithNotice`, once. */
function noticeOf(c: Context): string | undefined {
  // Not to a page in another tab that updates itself.
  if ((c.req.header('Sec-Fetch-Mode') ?? 'navigate') !== 'navigate' || !getCookie(c, NOTICE)) return undefined;
  return deleteCookie(c, NOTICE, NOTICE_COOKIE);
}

function signedIn(c: Context, root: string): Html | '' {
  if (!c.get('inSession')) return '';
  return html`<form class="account" method="post" action="${root}sign-out"><span>Signed in as <strong>${c.get('account') ?? ''}</strong></span> <button class="quiet">Sign out</button></form>`;
}
