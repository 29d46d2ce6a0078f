import { html, raw } from 'hono/html';
import { ADMINISTRATORS } from '../access/roles/api-roles.ts';
import { rootFrom } from '../access/sessions/addresses.ts';
import type { Database } from '../database/kysely.ts';
import { type Html, ICON, page, pagePolicy } from '../http/answer/page.ts';
import { BASE_STYLE } from '../http/answer/style.ts';
import { defineEndpoint } from '../http/endpoint/endpoint.ts';
import { type WaitingUpload, waitingUploads } from '../ingest/uploads/waiting.ts';
import { minuteOf, sizeOf } from './frame/words.ts';

/** More of them nobody reads. */
const MOST = 200;
const STYLE = `${BASE_STYLE}
main { max-width: 72rem; padding-top: clamp(1.5rem, 5vh, 4rem); }
.table { overflow-x: auto; border: 1px solid var(--line); border-radius: .6rem; background: var(--sheet); }
table { width: 100%; border-collapse: collapse; }
th, td { padding: .6rem .8rem; text-align: left; vertical-align: top; }
th { color: var(--faint); font-size: .85rem; font-weight: 600; white-space: nowrap; }
tr + tr td, tbody tr:first-child td { border-top: 1px solid var(--line); }
td:first-child { min-width: 14rem; overflow-wrap: anywhere; }
td:first-child bdi { display: block; }
td:nth-child(2) { min-width: 7rem; overflow-wrap: anywhere; }
td:nth-child(3) { min-width: 11rem; }
time { white-space: nowrap; font-variant-numeric: tabular-nums; }
progress { display: block; width: 100%; height: .5rem; margin-bottom: .3rem; accent-color: var(--accent); }
`;
const POLICY = pagePolicy({ style: STYLE }, 'img-src data:', "frame-ancestors 'none'");

/** Where operators see which uploads wait: whose they are, since when, and how much of them there is. */
export const operatorUploads = defineEndpoint({
  method: 'get',
  path: '/admin/uploads',
  access: ADMINISTRATORS,
  handle: async ({ c }, { database }: { database: Database }) => {
    const root = rootFrom(c);
    const { count, bytes, latest } = await waitingUploads(database, MOST);
    const content = html`<main>
<header><img src="${raw(ICON)}" alt=""><h1>Uploads</h1></header>
<p>${summary(count, bytes, latest.length)}</p>
${latest.length > 0 ? table(latest) : ''}
<footer><a href="${root}admin">Operating Inlet</a></footer>
</main>`;
    return c.html(page('Uploads · Inlet', content, { style: STYLE }), 200, {
      'Content-Security-Policy': POLICY,
      'Cache-Control': 'no-store',
    });
  },
});

function summary(count: number, bytes: number, shown: number): string {
  if (count === 0) return 'No upload waits to be finished or to become part of an event.';
  const those = count === 1 ? '1 upload waits' : `${count} uploads wait`;
  const text = `${those} to be finished or to become part of an event, with ${sizeOf(bytes)} stored.`;
  return shown < count ? `${text} These are the ${shown} that changed last.` : text;
}

function table(uploads: readonly WaitingUpload[]): Html {
  return html`<div class="table" tabindex="0" role="region" aria-label="Uploads that wait">
<table>
<thead><tr><th scope="col">File</th><th scope="col">Account</th><th scope="col">Received</th><th scope="col">Begun (UTC)</th><th scope="col">Last change</th><th scope="col">Expires</th></tr></thead>
<tbody>
${uploads.map(row)}
</tbody>
</table>
</div>`;
}

function row({ filename, owner, createdAt, changedAt, expiresAt, ...progress }: WaitingUpload): Html {
  return html`<tr><td><bdi>${filename}</bdi></td><td><bdi>${owner}</bdi></td><td>${received(progress)}</td><td>${time(createdAt)}</td><td>${time(changedAt)}</td><td>${time(expiresAt)}</td></tr>
`;
}

function received({
  received,
  length,
  complete,
}: Pick<WaitingUpload, 'received' | 'length' | 'complete'>): Html {
  if (complete) return html`${sizeOf(received)}, all of it`;
  if (length === undefined) return html`${sizeOf(received)} of an unknown size`;
  const percent = Math.floor((received / length) * 100);
  return html`<progress value="${received}" max="${length}" aria-label="${percent} percent"></progress>${sizeOf(received)} of ${sizeOf(length)}`;
}

function time(date: Date): Html {
  return html`<time datetime="${date.toISOString()}">${minuteOf(date)}</time>`;
}
