import { html, raw } from 'hono/html';
import { ADMINISTRATORS } from '../access/roles/api-roles.ts';
import { rootFrom } from '../access/sessions/addresses.ts';
import { signOutForm } from '../access/sessions/sign-in-page.ts';
import { ICON, page, pagePolicy } from '../http/answer/page.ts';
import { BASE_STYLE } from '../http/answer/style.ts';
import { defineEndpoint } from '../http/endpoint/endpoint.ts';

const STYLE = `${BASE_STYLE}
form { display: flex; flex-wrap: wrap; align-items: center; justify-content: space-between; gap: 0 1rem; margin-top: 1.6rem; }
form p, form button { margin: 0; }
`;
const POLICY = pagePolicy({ style: STYLE }, 'img-src data:', "form-action 'self'", "frame-ancestors 'none'");

/** Where operators find what is for them, and the button to sign out. */
export const operatorHome = defineEndpoint({
  method: 'get',
  path: '/admin',
  access: ADMINISTRATORS,
  handle: ({ c }) => {
    const root = rootFrom(c);
    const content = html`<main>
<header><img src="${raw(ICON)}" alt=""><h1>Inlet</h1></header>
<p>For those who operate it.</p>
<ul>
<li><a href="${root}admin/queues/"><strong>Queues</strong><span>What waits for the workers, and what they do</span></a></li>
<li><a href="${root}admin/uploads"><strong>Uploads</strong><span>What waits to be finished, whose it is and how much</span></a></li>
<li><a href="${root}admin/agents"><strong>Capture agents</strong><span>What they do, what went wrong, and what is to be recorded</span></a></li>
<li><a href="${root}upload"><strong>Upload recordings</strong><span>Files of any size, over lines that break</span></a></li>
<li><a href="${root}docs"><strong>The API</strong><span>Every endpoint with examples, and a form to try it out</span></a></li>
</ul>
${c.get('inSession') ? signOutForm(c.get('account') ?? '', `${root}sign-out`) : ''}
</main>`;
    return c.html(page('Operating Inlet', content, { style: STYLE }), 200, {
      'Content-Security-Policy': POLICY,
      'Cache-Control': 'no-store',
    });
  },
});
