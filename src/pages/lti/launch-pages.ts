import { createHash } from 'node:crypto';
import { html, raw } from 'hono/html';
import { BASE_STYLE, type Html, pagePolicy, titledPage } from '#platform/http/answer/html-page.ts';

const STYLE = `${BASE_STYLE}
main { padding-top: 1.5rem; }
.row { display: flex; gap: .6rem; align-items: end; }
.row label { flex: 1; }
.row button { margin-top: 0; }
ul button { display: block; width: 100%; margin: 0; padding: .75rem 1rem; border: 1px solid var(--line); background: var(--sheet); color: inherit; font-weight: inherit; text-align: left; }
ul button:hover { border-color: var(--accent); }
small { display: block; color: var(--faint); }
`;
const SUBMIT = 'document.forms[0].submit()';

/** Returns a page for the frame of a learning platform. */
export function launchPage(title: string, content: Html): Html {
  return titledPage(title, content, STYLE);
}

/**
 * Returns the headers of these pages. Every site may frame them: their forms do nothing without a token of the launch.
 *
 * @param formTarget the origin that the form is sent to, by a script
 */
export function launchPageHeaders(formTarget?: string): Record<string, string> {
  const digest = createHash('sha256').update(SUBMIT).digest('base64');
  return {
    'Cache-Control': 'no-store',
    // Not `no-referrer`, with which browsers send forms as if they came from no site.
    'Referrer-Policy': 'strict-origin',
    'Content-Security-Policy': pagePolicy(
      { style: STYLE },
      'img-src data:',
      ...(formTarget ? [`script-src 'sha256-${digest}'`] : []),
      `form-action ${formTarget ?? "'self'"}`,
      'frame-ancestors *',
    ),
  };
}

/** Returns a form that sends itself, and a button for browsers without scripts. */
export function autoSubmittedForm(action: string, fields: Readonly<Record<string, string>>, button: string): Html {
  return html`<form method="post" action="${action}">${hiddenFields(fields)}
<button>${button}</button></form>
<script>${raw(SUBMIT)}</script>`;
}

/** Returns hidden fields of a form. */
export function hiddenFields(fields: Readonly<Record<string, string>>): Html {
  return html`${Object.entries(fields).map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`)}`;
}

/** Formats the start of a recording. */
export function formatStart(start: Date): string {
  return DATE.format(start);
}

const DATE = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeZone: 'UTC' });
