import { z } from 'zod';
import { mayAccess } from '#access/acl/acl.queries.ts';
import { apiRole } from '#access/roles/api-roles.ts';
import { ROLE_CAPTURE_AGENT } from '#access/roles/roles.ts';
import { EVENT_ID } from '#catalogue/events/event-examples.ts';
import { EVENT_LIST } from '#catalogue/events/event-list.ts';
import type { Database } from '#platform/database/kysely.ts';
import { allOf } from '#platform/database/list/index.ts';
import { defineEndpoint } from '#platform/http/endpoint/endpoint.ts';
import { NO_WHOLE_NUMBER } from '#platform/http/endpoint/endpoint-schemas.ts';
import { IS_PUBLISHED, publicationsOfEvents } from '#publications/publication.queries.ts';
import { INTERNAL_CHANNEL } from '#publications/publication.ts';
import type { PublicationAddresses } from '#publications/publication-json.ts';
import { foundEpisode } from './found-episode.ts';
import { SearchQuery, search, searchAnswer, searchAnswers, sortOf } from './search-page.ts';

/** The criteria of the list of events by those of the search. */
const CRITERIA = {
  ...{ title: 'title', creator: 'presenter', series_id: 'series_name' },
  ...{ modified: 'start_date', date_created: 'start_date', date_modified: 'start_date' },
};

const EXAMPLE = { id: EVENT_ID, dc: { title: ['Algebra I'] }, mediapackage: { id: EVENT_ID, title: 'Algebra I' } };

interface Services {
  database: Database;
  addresses: PublicationAddresses;
}

/** Searches what is published. Agents ask for their recordings, and send unpublished ones again. */
export const searchEpisodes = defineEndpoint({
  method: 'get',
  path: '/search/episode.json',
  access: [ROLE_CAPTURE_AGENT, ...apiRole('EVENTS_VIEW')],
  summary: 'Search published events',
  description:
    'Published events that the account may read, the latest start first. A capture agent finds every published event by its identifier, without its files.',
  query: SearchQuery.extend({
    sid: z.string().optional().describe('The identifier of the series.'),
    sname: z.string().optional().describe('The title of the series.'),
  }),
  answers: searchAnswers(EXAMPLE),
  refusals: [NO_WHOLE_NUMBER],
  handle: async ({ c, query }, { database, addresses }: Services) => {
    const { principal } = c.var;
    const { id, q, sid, sname, sort, ...page } = query();
    if (id && principal.hasRole(ROLE_CAPTURE_AGENT)) return c.json(await publishedById(database, id.trim()));
    const access = principal.isAdmin() ? IS_PUBLISHED : allOf([mayAccess('events', principal, 'read'), IS_PUBLISHED]);
    const given = { identifier: id?.trim(), textFilter: q, is_part_of: sid?.trim(), series_name: sname };
    const criteria = Object.fromEntries(
      Object.entries(given).flatMap(([name, value]) => (value ? [[name, value]] : [])),
    );
    const found = await search(database, EVENT_LIST, { access, criteria, sort: sortOf(sort, CRITERIA) }, page);
    const publications = await publicationsOfEvents(
      database,
      found.rows.map((event) => event.id),
    );
    const published = (eventId: string) =>
      (publications.get(eventId) ?? []).filter(({ channel }) => channel !== INTERNAL_CHANNEL);
    const results = found.rows.map((event) => foundEpisode(event, published(event.id), addresses));
    return c.json(searchAnswer(found, results));
  },
});

async function publishedById(database: Database, id: string) {
  const event = await database
    .selectFrom('events')
    .select(['id', 'title'])
    .where('id', '=', id)
    .where(IS_PUBLISHED)
    .executeTakeFirst();
  const results = event ? [{ id: event.id, mediapackage: event }] : [];
  return searchAnswer({ total: results.length, limit: 1, offset: 0 }, results);
}
