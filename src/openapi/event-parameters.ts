import { z } from 'zod';
import { EVENT_LIST } from '../events/list.ts';
import { EventListQuery } from '../events/query.schemas.ts';
import { PageQuery } from '../http/list/index.ts';
import { filterHelp, sortParameter } from './list-parameters.ts';

/** Which events to list, in which order, and what else to answer of each. */
export const EVENT_LIST_QUERY = z.object({
  filter: z
    .union([z.string(), z.array(z.string())])
    .optional()
    .meta({
      description: `${filterHelp(EVENT_LIST)} Of several parameters \`filter\` any must match. \`start\` and \`technical_start\` take a period of time, \`from/to\`, both included; \`agent_id\` is the capture agent that is to record, and \`technical_start\` when.`,
      example: `is_part_of:4fd0a1b2-91f4-4a55-9d0e-6f8f0a7c3b12,textFilter:sequences`,
    }),
  sort: sortParameter(EVENT_LIST, 'start_date:DESC,title:ASC'),
  ...PageQuery.shape,
  ...EventListQuery.shape,
});
