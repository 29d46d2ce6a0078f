import { z } from 'zod';
import { apiRole } from '#access/roles/api-roles.ts';
import type { Catalogs } from '#metadata/catalogs.ts';
import type { Database } from '#platform/database/kysely.ts';
import { atLeast } from '#platform/http/answer/version.ts';
import { defineEndpoint } from '#platform/http/endpoint/endpoint.ts';
import { NO_WHOLE_NUMBER } from '#platform/http/endpoint/query.schemas.ts';
import {
  filterHelp,
  listHeaders,
  PageQuery,
  respondWithList,
  sortParameter,
  UNKNOWN_FILTER,
  UNKNOWN_SORT,
} from '#platform/http/list/index.ts';
import type { PublicationAddresses } from '#publications/index.ts';
import { EventListQuery, Events } from '../event.schemas.ts';
import { EVENT } from '../examples.ts';
import { accessibleEvents, EVENT_LIST, eventListJson } from '../list.ts';
import { UNPARSABLE_FILTER } from '../refusals.ts';
import { EVENT_CHANGES } from '../versions.ts';

interface EventServices {
  database: Database;
  addresses: PublicationAddresses;
  catalogs: Pick<Catalogs, 'event'>;
}

/** Lists events. Before 1.5.0 only the first parameter `filter` counts. */
export const listEvents = defineEndpoint({
  method: 'get',
  path: '/api/events',
  access: apiRole('EVENTS_VIEW'),
  summary: 'List events',
  description: 'Returns the events that the account may read, in a stable order.',
  query: z.object({
    filter: z
      .union([z.string(), z.array(z.string())])
      .optional()
      .meta({
        description: `${filterHelp(EVENT_LIST)} If \`filter\` is repeated, one of them must match. \`start\` and \`technical_start\` take a period \`from/to\`, both ends included. \`agent_id\` is the capture agent of a scheduled event, \`technical_start\` the start of its recording.`,
        example: `is_part_of:4fd0a1b2-91f4-4a55-9d0e-6f8f0a7c3b12,textFilter:sequences`,
      }),
    sort: sortParameter(EVENT_LIST, 'start_date:DESC,title:ASC'),
    ...PageQuery.shape,
    ...EventListQuery.shape,
  }),
  answers: {
    200: { description: 'A page of events.', body: Events, example: [EVENT], headers: listHeaders('/api/events') },
  },
  refusals: [UNKNOWN_FILTER, UNKNOWN_SORT, UNPARSABLE_FILTER, NO_WHOLE_NUMBER],
  handle: ({ c, query }, { database, addresses, catalogs }: EventServices) => {
    const { principal, version } = c.var;
    const wanted = query();
    const filters = c.req.queries('filter') ?? [];
    const options = { ...addresses, version, catalogs: catalogs.event };
    return respondWithList(c, EVENT_LIST, {
      database,
      url: `${addresses.publicUrl}/api/events`,
      access: accessibleEvents(principal, wanted.onlyWithWriteAccess ? 'write' : 'read'),
      sort: wanted.sort,
      filters: atLeast(version, EVENT_CHANGES.repeatedFilter) ? filters : filters.slice(0, 1),
      json: (events) => eventListJson(database, events, wanted, options),
    });
  },
});
