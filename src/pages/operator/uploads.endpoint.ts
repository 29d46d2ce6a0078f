import { html } from 'hono/html';
import { ADMINISTRATORS } from '#access/roles/api-roles.ts';
import { type IncomingUpload, incomingUploads } from '#ingest/incoming.queries.ts';
import { type Upload, waitingUploads } from '#ingest/tus/uploads.ts';
import type { Database } from '#platform/database/kysely.ts';
import type { Html } from '#platform/http/answer/page.ts';
import { defineEndpoint } from '#platform/http/endpoint/endpoint.ts';
import { operatorPage } from './frame/operator-page.ts';
import { minuteOf, sizeOf } from './frame/words.ts';

/** A longer list is not read. */
const MOST = 200;
const STYLE = `
td:first-child { min-width: 14rem; }
td:first-child bdi { display: block; }
td:nth-child(2) { min-width: 7rem; }
td:nth-child(3) { min-width: 11rem; }
`;

/** Where operators see which uploads come in or wait: whose they are, since when, and how much of them there is. */
export const operatorUploads = defineEndpoint({
  method: 'get',
  path: '/admin/uploads',
  access: ADMINISTRATORS,
  handle: async ({ c }, { database }: { database: Database }) => {
    const incoming = await incomingUploads(database, MOST);
    const { count, bytes, latest } = await waitingUploads(database, MOST);
    const content = html`<section aria-labelledby="incoming"><h2 id="incoming">Within a request (${incoming.count})</h2>
<p>${incoming.count === 0 ? 'Nothing comes in at this moment.' : `${sizeOf(incoming.bytes)} of them have come, as of a quarter of a minute ago.`}${incoming.latest.length < incoming.count ? ` These are the ${incoming.latest.length} that began last.` : ''}</p>
${incoming.latest.length > 0 ? incomingTable(incoming.latest) : ''}</section>
<section aria-labelledby="resumable"><h2 id="resumable">Resumable (${count})</h2>
<p>${summary(count, bytes, latest.length)}</p>
${latest.length > 0 ? table(latest) : ''}</section>`;
    return operatorPage(c, { title: 'Uploads', content, style: STYLE, current: 'admin/uploads' });
  },
});

function summary(count: number, bytes: number, shown: number): string {
  if (count === 0) return 'No upload waits to be finished or to become part of an event.';
  const those = count === 1 ? '1 upload waits' : `${count} uploads wait`;
  const text = `${those} to be finished or to become part of an event, with ${sizeOf(bytes)} stored.`;
  return shown < count ? `${text} These are the ${shown} that changed last.` : text;
}

function table(uploads: readonly Upload[]): Html {
  return html`<div class="table" tabindex="0" role="region" aria-label="Uploads that wait">
<table>
<thead><tr><th scope="col">File</th><th scope="col">Account</th><th scope="col">Received</th><th scope="col">Begun (UTC)</th><th scope="col">Last change</th><th scope="col">Expires</th></tr></thead>
<tbody>
${uploads.map(row)}
</tbody>
</table>
</div>`;
}

function incomingTable(uploads: readonly IncomingUpload[]): Html {
  return html`<div class="table" tabindex="0" role="region" aria-label="Uploads within a request">
<table>
<thead><tr><th scope="col">File</th><th scope="col">Account</th><th scope="col">Received</th><th scope="col">Begun (UTC)</th></tr></thead>
<tbody>
${uploads.map(
  ({
    filename,
    owner,
    createdAt,
    ...progress
  }) => html`<tr><td><bdi>${filename}</bdi></td><td><bdi>${owner}</bdi></td><td>${received({ ...progress, complete: false }, 'at most ')}</td><td>${time(createdAt)}</td></tr>
`,
)}
</tbody>
</table>
</div>`;
}

function row({ filename, owner, createdAt, changedAt, expiresAt, ...upload }: Upload): Html {
  return html`<tr><td><bdi>${filename}</bdi></td><td><bdi>${owner}</bdi></td><td>${received({ ...upload, received: upload.offset })}</td><td>${time(createdAt)}</td><td>${time(changedAt)}</td><td>${time(expiresAt)}</td></tr>
`;
}

function received(
  { received, length, complete }: Pick<IncomingUpload, 'received' | 'length'> & Pick<Upload, 'complete'>,
  most = '',
): Html {
  if (complete) return html`${sizeOf(received)}, all of it`;
  if (length === undefined) return html`${sizeOf(received)} of an unknown size`;
  const percent = Math.floor((received / length) * 100);
  return html`<progress value="${received}" max="${length}" aria-label="${percent} percent"></progress>${sizeOf(received)} of ${most}${sizeOf(length)}`;
}

function time(date: Date): Html {
  return html`<time datetime="${date.toISOString()}">${minuteOf(date)}</time>`;
}
