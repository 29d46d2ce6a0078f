import { html } from 'hono/html';
import { z } from 'zod';
import { ADMINISTRATORS } from '#access/roles/api-roles.ts';
import type { Database } from '#platform/database/kysely.ts';
import { defineEndpoint } from '#platform/http/endpoint/endpoint.ts';
import { rootFrom } from '../../sign-in/sign-in-page.ts';
import { operatorPage } from '../frame/operator-page.ts';
import { moment, recordingLink, stateOf } from '../frame/parts.ts';
import { type FoundRecording, findRecordings } from './search.queries.ts';
import { searchForm } from './search-form.ts';
import { RECORDING_STYLE } from './style.ts';

const MAX_SEARCH = 255;
const CONTROL = /\p{Cc}/u;

const Query = z.object({
  q: z
    .string()
    .refine((text) => text.length <= MAX_SEARCH && !CONTROL.test(text) && text.isWellFormed(), {
      error: `The parameter 'q' is not allowed; allowed are up to ${MAX_SEARCH} characters, none of them a control character.`,
    })
    .default(''),
});

/** Where operators find a recording by its title, by its identifier or by that of a request. */
export const operatorSearch = defineEndpoint({
  method: 'get',
  path: '/admin/recordings',
  access: ADMINISTRATORS,
  query: Query,
  handle: async ({ c, query }, { database }: { database: Database }) => {
    const root = rootFrom(c);
    const search = query().q.trim();
    const { recordings, more } = await findRecordings(database, search);
    const content = html`${searchForm(root, search)}
${
  recordings.length === 0
    ? html`<p>${search === '' ? 'There is no recording yet.' : html`No recording has <bdi>${search}</bdi> in its metadata or its identifier, and no request of that identifier started anything.`}</p>`
    : html`<div class="table results" tabindex="0" role="region" aria-label="Recordings"><table>
<thead><tr><th scope="col">Title</th><th scope="col">Starts (UTC)</th><th scope="col">Series</th><th scope="col">State</th></tr></thead>
<tbody>${recordings.map((recording) => row(recording, root))}</tbody></table></div>
${more ? html`<p class="faint">There are more.</p>` : ''}`
}`;
    return operatorPage(c, {
      title: 'Recordings',
      content,
      style: RECORDING_STYLE,
      current: undefined,
    });
  },
});

function row({ eventId, title, start, seriesTitle, state }: FoundRecording, root: string) {
  return html`<tr><td>${recordingLink({ eventId, title }, root)} <span class="faint"><code>${eventId}</code></span></td><td>${start === null ? '' : moment(start)}</td><td><bdi>${seriesTitle}</bdi></td><td>${stateOf(state)}</td></tr>
`;
}
