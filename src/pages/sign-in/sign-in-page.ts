import { html, raw } from 'hono/html';
import { type Html, ICON, page, pagePolicy } from '#platform/http/answer/page.ts';
import { BASE_STYLE } from '#platform/http/answer/style.ts';

const STYLE = `${BASE_STYLE}
main { max-width: 27rem; }
form { margin-top: 1.5rem; }
label { display: block; margin-top: 1rem; }
[role=alert] { padding: .6rem .8rem; border: 1px solid var(--alarm); border-radius: .6rem; color: var(--alarm); }
`;

/** Of the pages about signing in, none of which is kept or framed. */
export const PAGE_HEADERS = {
  'Cache-Control': 'no-store',
  'Content-Security-Policy': pagePolicy(
    { style: STYLE },
    'img-src data:',
    "form-action 'self'",
    "frame-ancestors 'none'",
  ),
};

const frame = (title: string, content: Html) =>
  page(
    `${title} - Inlet`,
    html`<main>
<header><img src="${raw(ICON)}" alt=""><h1>${title}</h1></header>
${content}
</main>`,
    { style: STYLE },
  );

/** What the form shows and where it leads. */
export interface SignInForm {
  action: string;
  next: string;
  username?: string;
  /** Why the last attempt failed. */
  fault?: string;
}

/** The page where people sign in; it needs no script. */
export function signInPage({ action, next, username = '', fault }: SignInForm): Html {
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

/**
 * Why something is not shown or was not done, the way back to where it was asked for, and a way out for whoever signed in
 * with the wrong account.
 */
export function refusalPage(
  sentence: string,
  { username, signOut, back }: { username: string | undefined; signOut: string; back: string | undefined },
): Html {
  return frame(
    'This did not work',
    html`<p>${sentence}</p>
${back === undefined ? '' : html`<p><a href="${back}">Back</a></p>`}
${username === undefined ? '' : signOutForm(username, signOut)}`,
  );
}

/** Who is signed in, and the button that ends that. */
export function signOutForm(username: string, action: string): Html {
  return html`<form method="post" action="${action}"><p>Signed in as <strong>${username}</strong></p>
<button>Sign out</button></form>`;
}

/** Shown for a moment while the browser asks again. */
export function waitingPage(): Html {
  return frame('One moment', html`<p><a href="">Go on</a></p>`);
}
