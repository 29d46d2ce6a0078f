import { type Expression, type SqlBool, sql } from 'kysely';
import { z } from 'zod';
import { mayAccess } from '#access/acl/acl.queries.ts';
import type { Principal } from '#access/principal.ts';
import { apiRole } from '#access/roles/api-roles.ts';
import type { Database, Queryable } from '#platform/database/kysely.ts';
import { type Condition, hasValue } from '#platform/database/list/index.ts';
import { defineEndpoint } from '#platform/http/endpoint/endpoint.ts';
import { NO_WHOLE_NUMBER } from '#platform/http/endpoint/endpoint-schemas.ts';
import {
  equals,
  filterHelp,
  type ListedResource,
  listHeaders,
  PageQuery,
  respondWithList,
  sortParameter,
  UNKNOWN_FILTER,
  UNKNOWN_SORT,
} from '#platform/http/list/index.ts';
import { INVALID_STATE, Workflow, WorkflowQuery } from './workflow.schemas.ts';
import { type WorkflowRow, workflowJson, workflowRows } from './workflow-queries.ts';
import { EVENT_ID, WORKFLOW } from './workflow-refusals.ts';
import { WORKFLOW_MOVES } from './workflow-states.ts';

const STATE = sql.ref('workflows.state');
const CREATED = {
  name: 'created',
  expression: sql.ref('workflows.created_at'),
  kind: 'instant',
} as const;

/** The list of workflows, the latest first: its filters, its orders and its rows. Each has an index (sql/0026). */
export const WORKFLOW_LIST: ListedResource<WorkflowRow> = {
  table: 'workflows',
  shown: (database: Queryable, id: Expression<string>) =>
    workflowRows(database).where('id', '=', sql<number>`${id}::bigint`).limit(1),
  sorts: {
    criteria: { created: CREATED },
    standard: { ...CREATED, descending: true },
    identifier: { name: 'identifier', expression: sql.ref('workflows.id'), kind: 'number' },
  },
  filters: {
    state: { repeated: 'any', condition: inStates },
    definition: equals(sql.ref('workflows.definition')),
    event: {
      repeated: 'any',
      condition: (ids) => ({ test: sql`workflows.event_id = ANY(${[...ids]}::text[])`, few: true }),
    },
  },
};

function inStates(values: readonly [string, ...string[]]): Condition {
  const states = values.map(storedState);
  const [first = ''] = states;
  return states.length === 1 ? hasValue(STATE, first) : { test: sql<SqlBool>`${STATE} = ANY(${states}::text[])` };
}

function storedState(value: string): string {
  const state = value.toUpperCase();
  if (!Object.hasOwn(WORKFLOW_MOVES, state)) throw INVALID_STATE(value.slice(0, 100));
  return state;
}

/** Selects workflows of events that the principal may read; undefined for an administrator. */
function accessibleWorkflows(principal: Principal): Expression<SqlBool> | undefined {
  if (principal.isAdmin()) return undefined;
  return sql<SqlBool>`EXISTS (SELECT FROM events
    WHERE events.id = workflows.event_id AND ${mayAccess('events', principal, 'read')})`;
}

const DEFAULT_LIMIT = 100;

interface Services {
  /** Base of public URLs, without a slash at its end. */
  config: { publicUrl: string };
  database: Database;
}

export const listWorkflows = defineEndpoint({
  method: 'get',
  path: '/api/workflows',
  since: '1.1.0',
  access: apiRole('WORKFLOW_INSTANCE_VIEW'),
  summary: 'List workflows',
  description: `An addition of Inlet. Lists the workflows of events that the account may read, the latest first; at most ${DEFAULT_LIMIT} unless \`limit\` is given.`,
  query: z.object({
    filter: z
      .string()
      .optional()
      .meta({
        description: `${filterHelp(WORKFLOW_LIST)} \`state\` is that of the workflow, such as \`failed\`; a repeated name matches any of its values.`,
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
    return respondWithList(c, WORKFLOW_LIST, {
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
