import { z } from 'zod';
import { apiRole } from '#access/roles/api-roles.ts';
import type { Database } from '#platform/database/kysely.ts';
import { defineEndpoint } from '#platform/http/endpoint/endpoint.ts';
import { NO_WHOLE_NUMBER } from '#platform/http/endpoint/query.schemas.ts';
import {
  answerList,
  filterHelp,
  listHeaders,
  PageQuery,
  sortParameter,
  UNKNOWN_FILTER,
  UNKNOWN_SORT,
} from '#platform/http/list/index.ts';
import { EVENT_ID, WORKFLOW } from './examples.ts';
import { workflowJson } from './json.ts';
import { accessibleWorkflows, WORKFLOW_LIST } from './list.ts';
import { INVALID_STATE, Workflow, WorkflowQuery } from './workflow.schemas.ts';

const DEFAULT_LIMIT = 100;

interface Services {
  /** Base of the URLs handed out, without a slash at its end. */
  config: { publicUrl: string };
  database: Database;
}

export const listWorkflows = defineEndpoint({
  method: 'get',
  path: '/api/workflows',
  since: '1.1.0',
  access: apiRole('WORKFLOW_INSTANCE_VIEW'),
  summary: 'List workflows',
  description: `An addition of Inlet. Those of events that the account may read, the latest first; ${DEFAULT_LIMIT} at most unless \`limit\` asks for more.`,
  query: z.object({
    filter: z
      .string()
      .optional()
      .meta({
        description: `${filterHelp(WORKFLOW_LIST)} \`state\` is that of the workflow, such as \`failed\`; a name given again means either value.`,
        example: `event:${EVENT_ID},state:failed`,
      }),
    sort: sortParameter(WORKFLOW_LIST, 'created:ASC'),
    ...PageQuery.shape,
    ...WorkflowQuery.shape,
  }),
  answers: {
    200: {
      description: 'A page of workflows.',
      body: z.array(Workflow),
      example: [WORKFLOW],
      headers: listHeaders('/api/workflows'),
    },
  },
  refusals: [UNKNOWN_FILTER, UNKNOWN_SORT, INVALID_STATE, NO_WHOLE_NUMBER],
  handle: ({ c, query }, { config, database }: Services) => {
    const wanted = query();
    return answerList(c, WORKFLOW_LIST, {
      database,
      url: `${config.publicUrl}/api/workflows`,
      access: accessibleWorkflows(c.var.principal),
      sort: wanted.sort,
      filters: [wanted.filter ?? ''],
      defaultLimit: DEFAULT_LIMIT,
      json: async (workflows) => workflows.map((workflow) => workflowJson(workflow, wanted)),
    });
  },
});
