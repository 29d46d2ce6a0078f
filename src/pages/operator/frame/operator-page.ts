import type { Context } from 'hono';
import { html, raw } from 'hono/html';
import { Assets, packaged, SCRIPT_TYPE } from '#platform/http/answer/asset.ts';
import { browserModules } from '#platform/http/answer/browser-modules.ts';
import { type Html, ICON, page, pagePolicy } from '#platform/http/answer/page.ts';
import { defineEndpoint } from '#platform/http/endpoint/endpoint.ts';
import { rootFrom } from '../../sign-in/sign-in-page.ts';
import { FRAME_STYLE } from './operator-style.ts';

/** The pages for operators, in the order in which they are offered. */
const PAGES = [
  ['admin', 'Now'],
  ['admin/trends', 'How it goes'],
  ['admin/parts', 'Parts'],
  ['admin/agents', 'Capture agents'],
  ['admin/uploads', 'Uploads'],
  ['admin/webhooks', 'Webhooks'],
  ['admin/queues/', 'Queues'],
  ['docs', 'The API'],
] as const;

const ASSETS = new Assets({
  ...browserModules(new URL('./browser/', import.meta.url)),
  'idiomorph.js': packaged('idiomorph/dist/idiomorph.min.js', SCRIPT_TYPE),
});

/** The scripts of the pages for operators, which hold nothing that is not public. */
export const operatorAsset = defineEndpoint({
  method: 'get',
  path: '/admin/assets/{name}',
  access: 'public',
  handle: ({ c, params }) => ASSETS.answer(c, params.name),
});

/** The content of a page for operators. */
export interface OperatorPage {
  title: string | Html;
  /** The title as the window shows it, if that is not just text. */
  name?: string;
  /** Sections with an `id` and the attribute `data-live` are brought up to date as things change. */
  content: Html;
  /** Rules beside those that all of them share. */
  style?: string;
  /** Which of the pages it is, by its path: `admin/parts`. */
  current: (typeof PAGES)[number][0] | undefined;
  /** The result of the last action. */
  notice?: string | undefined;
  /** Follows these changes, by a filter of `/api/updates`; without it the page stays as it is. */
  follows?: string;
  /** Seconds after which the browser loads the page again. */
  refresh?: string | undefined;
}

/**
 * Answers with a page for operators: the way to the other pages, who is signed in, and what the page is about. It comes
 * from this server alone, and needs its script for nothing but to follow what happens.
 */
export function operatorPage(
  c: Context,
  { title, name, content, style = '', current, notice, follows, refresh }: OperatorPage,
): Response | Promise<Response> {
  const root = rootFrom(c);
  const parts = { style: FRAME_STYLE + style };
  const whole = html`<a class="skip" href="#content">To the content</a>
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
${follows === undefined ? '' : html`<script src="${root}admin/assets/idiomorph.js"></script><script type="module" src="${root}admin/assets/page-updates.js"></script>`}`;
  return c.html(page(`${name ?? title} · Inlet`, whole, parts), 200, {
    'Content-Security-Policy': pagePolicy(
      parts,
      "img-src 'self' data:",
      ...(follows === undefined ? [] : ["script-src 'self'", "connect-src 'self'"]),
      "form-action 'self'",
      "frame-ancestors 'none'",
    ),
    'Cache-Control': 'no-store',
    // Addresses hold names, which other hosts must not get.
    'Referrer-Policy': 'same-origin',
    ...(refresh !== undefined && { Refresh: refresh }),
  });
}

/** Redirects to a page after an action and shows its result there. @param to relative to the root, without a leading slash */
export function doneAt(c: Context, to: string, notice: string): Response {
  const [path = '', query = ''] = to.split('?');
  const parameters = new URLSearchParams(query);
  parameters.set('done', notice);
  return c.redirect(`${rootFrom(c)}${path}?${parameters}`, 303);
}

/** Returns the result that `doneAt` passed on; links on other sites cannot set one. */
export function noticeOf(c: Context): string | undefined {
  if ((c.req.header('Sec-Fetch-Site') ?? 'same-origin') !== 'same-origin') return undefined;
  return c.req.query('done')?.slice(0, 300) || undefined;
}

function signedIn(c: Context, root: string): Html | '' {
  if (!c.get('inSession')) return '';
  return html`<form class="account" method="post" action="${root}sign-out"><span>Signed in as <strong>${c.get('account') ?? ''}</strong></span> <button class="quiet">Sign out</button></form>`;
}
