import { html } from 'hono/html';
import { ADMINISTRATORS } from '#access/roles/api-roles.ts';
import { type IncomingUpload, listIncomingUploads } from '#ingest/incoming-uploads.ts';
import { listWaitingUploads } from '#ingest/tus/tus-uploads.ts';
import type { Database } from '#platform/database/kysely.ts';
import type { Html } from '#platform/http/answer/html-page.ts';
import { defineEndpoint } from '#platform/http/endpoint/endpoint.ts';
import { sizeOf } from './frame/format-units.ts';
import { operatorPage } from './frame/operator-page.ts';
import { moment } from './frame/page-elements.ts';

const MOST = 200;
const STYLE = `
td:first-child { min-width: 14rem; }
td:first-child bdi { display: block; }
td:nth-child(2) { min-width: 7rem; }
td:nth-child(3) { min-width: 13rem; }
`;

/** Shows operators the uploads in progress, and those that are not part of an event yet. */
export const operatorUploads = defineEndpoint({
  method: 'get',
  path: '/admin/uploads',
  access: ADMINISTRATORS,
  handle: async ({ c }, { database }: { database: Database }) => {
    const incoming = await listIncomingUploads(database, MOST);
    const resumable = await listWaitingUploads(database, MOST);
    const incomingRows = incoming.latest.map((upload) =>
      uploadRow(upload, receivedOf(upload, 'at most '), [upload.createdAt]),
    );
    const resumableRows = resumable.latest.map(({ offset, complete, ...upload }) => {
      const received = complete ? html`${sizeOf(offset)}, complete` : receivedOf({ ...upload, received: offset });
      return uploadRow(upload, received, [upload.createdAt, upload.changedAt, upload.expiresAt]);
    });
    const content = html`<section aria-labelledby="incoming"><h2 id="incoming">In one request (${incoming.count})</h2>
<p>${incoming.count === 0 ? 'No uploads in progress.' : `${sizeOf(incoming.bytes)} received. These figures are up to 15 seconds old.`}${shownOf(incoming, 'newest')}</p>
${tableOf('Uploads in one request', ['Started (UTC)'], incomingRows)}</section>
<section aria-labelledby="resumable"><h2 id="resumable">Resumable (${resumable.count})</h2>
<p>${resumable.count === 0 ? 'No unfinished or unused uploads.' : `${resumable.count === 1 ? '1 upload' : `${resumable.count} uploads`} unfinished or not yet part of an event, ${sizeOf(resumable.bytes)} stored.`}${shownOf(resumable, 'last changed')}</p>
${tableOf('Resumable uploads', ['Started (UTC)', 'Last change (UTC)', 'Expires (UTC)'], resumableRows)}</section>`;
    return operatorPage(c, { title: 'Uploads', content, style: STYLE, current: 'admin/uploads' });
  },
});

function shownOf({ count, latest }: { count: number; latest: readonly unknown[] }, order: string): string {
  return latest.length < count ? ` The ${latest.length} ${order} are shown.` : '';
}

function tableOf(label: string, times: readonly string[], rows: readonly Html[]): Html | '' {
  if (rows.length === 0) return '';
  return html`<div class="table" tabindex="0" role="region" aria-label="${label}"><table>
<thead><tr>${['File', 'Account', 'Received', ...times].map((name) => html`<th scope="col">${name}</th>`)}</tr></thead>
<tbody>
${rows}</tbody></table></div>`;
}

function uploadRow(
  { filename, owner }: { filename: string; owner: string },
  received: Html,
  times: readonly Date[],
): Html {
  return html`<tr><td><bdi>${filename}</bdi></td><td><bdi>${owner}</bdi></td><td>${received}</td>${times.map((time) => html`<td>${moment(time)}</td>`)}</tr>
`;
}

function receivedOf({ received, length }: Pick<IncomingUpload, 'received' | 'length'>, most = ''): Html {
  if (length === undefined) return html`${sizeOf(received)} of unknown size`;
  const percent = Math.floor((received / length) * 100);
  return html`<progress value="${received}" max="${length}" aria-label="${percent} percent"></progress>${sizeOf(received)} of ${most}${sizeOf(length)}`;
}
