import { z } from 'zod';
import { mayAccess } from '#access/acl/acl.queries.ts';
import { apiRole } from '#access/roles/api-roles.ts';
import { ROLE_CAPTURE_AGENT } from '#access/roles/roles.ts';
import { EVENT_ID } from '#catalogue/events/event-examples.ts';
import type { Database } from '#platform/database/kysely.ts';
import { defineEndpoint } from '#platform/http/endpoint/endpoint.ts';
import { INTERNAL_CHANNEL } from '#publications/publication.ts';

const Found = z.object({
  'search-results': z.looseObject({ total: z.int().describe('`0` or `1`.') }),
});

/** Tells agents that an event is published. They send unpublished recordings again. */
export const publishedEpisode = defineEndpoint({
  method: 'get',
  path: '/search/episode.json',
  access: [ROLE_CAPTURE_AGENT, ...apiRole('EVENTS_VIEW')],
  summary: 'Check that an event is published',
  description: 'Finds events that the account may read; a capture agent finds every event.',
  query: z.object({
    id: z.string().optional().meta({ description: 'Identifier of the event.', example: EVENT_ID }),
  }),
  answers: {
    200: {
      description: 'The number of published events with this identifier.',
      plain: true,
      body: Found,
      example: { 'search-results': { total: 1, limit: 1, offset: 0, result: { id: EVENT_ID } } },
    },
  },
  handle: async ({ c, query }, { database }: { database: Database }) => {
    const { id = '' } = query();
    const { principal } = c.var;
    let events = database
      .selectFrom('events')
      .select(['id', 'title'])
      .where('id', '=', id.trim())
      .where((is) =>
        is.exists(
          is
            .selectFrom('publications')
            .select('publications.id')
            .whereRef('publications.event_id', '=', 'events.id')
            .where('channel', '<>', INTERNAL_CHANNEL),
        ),
      );
    if (!principal.hasRole(ROLE_CAPTURE_AGENT)) events = events.where(mayAccess('events', principal, 'read'));
    const event = await events.executeTakeFirst();
    const result = event && { id: event.id, mediapackage: event };
    return c.json({ 'search-results': { total: event ? 1 : 0, limit: 1, offset: 0, result } });
  },
});
