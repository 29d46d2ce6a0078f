import { html } from 'hono/html';
import { z } from 'zod';
import { EVERY_ACCOUNT } from '#access/roles/api-roles.ts';
import type { Database } from '#platform/database/kysely.ts';
import { defineEndpoint } from '#platform/http/endpoint/endpoint.ts';
import { notFound } from '#platform/http/errors/errors.ts';
import type { PublicationAddresses } from '#publications/publication-json.ts';
import { publicationLinks } from '../urls/relative-urls.ts';
import { formatStart, launchPage, launchPageHeaders } from './launch-pages.ts';
import { findTitle, listRecordings } from './launch-recordings.queries.ts';
import { LTI } from './launch-target.ts';

const SHOWN = 50;
const MOST_SKIPPED = 1_000_000;

/** Lists the published recordings of a series, or all of them, that the user of a course may watch. */
export const seriesRecordings = defineEndpoint({
  method: 'get',
  path: `${LTI}/series`,
  access: EVERY_ACCOUNT,
  query: z.object({
    series: z.string().optional(),
    offset: z.coerce.number().int().min(0).max(MOST_SKIPPED).catch(0),
  }),
  handle: async ({ c, query }, { database, addresses }: { database: Database; addresses: PublicationAddresses }) => {
    const { principal } = c.var;
    const { series, offset } = query();
    const title = series === undefined ? 'Recordings' : await findTitle(database, principal, 'series', series);
    if (title === undefined) throw notFound('The series does not exist, or the course has no access to it.');
    const found = await listRecordings(database, principal, { series, skip: offset, take: SHOWN });
    const links = publicationLinks(c, addresses);
    const items = found.recordings.map(
      (
        recording,
      ) => html`<li><a href="${links.watch(recording.publicationId)}">${recording.title || 'Untitled recording'}
<span>${formatStart(recording.start)}</span></a></li>`,
    );
    const next = new URLSearchParams({ ...(series && { series }), offset: String(offset + SHOWN) });
    const content = html`${items.length > 0 ? html`<ul>${items}</ul>` : html`<p>No recording is published here.</p>`}
${found.hasMore ? html`<p><a href="?${next}">More recordings</a></p>` : ''}`;
    return c.html(launchPage(title || 'Untitled series', content), 200, launchPageHeaders());
  },
});
