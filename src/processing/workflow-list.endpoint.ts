import { type Expression, type SqlBool, sql } from 'kysely';
import { z } from 'zod';
import { accessCondition } from '#access/acl/acl.queries.ts';
import type { Principal } from '#access/principal.ts';
import { apiRole } from '#access/roles/api-roles.ts';
import type { Database, Queryable } from '#platform/database/kysely.ts';
import { type Condition, hasValue } from '#platform/database/list/index.ts';
import { defineEndpoint } from '#platform/http/endpoint/endpoint.ts';
import { equals, type ListedResource, listDeclaration, respondWithList } from '#platform/http/list/index.ts';
import { INVALID_STATE, Workflow, WorkflowQuery } from './workflow.schemas.ts';
import { EVENT_ID, WORKFLOW } from './workflow-examples.ts';
import { type WorkflowRow, workflowJson, workflowRows } from './workflow-queries.ts';
import { WORKFLOW_MOVES } from './workflow-states.ts';

const STATE = sql.ref('workflows.state');
const CREATED = { name: 'created', expression: sql.ref('workflows.created_at'), kind: 'instant' } as const;

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
  const events = accessCondition('events', principal, 'read');
  return events && sql<SqlBool>`EXISTS (SELECT FROM events WHERE events.id = workflows.event_id AND ${events})`;
}

const DEFAULT_LIMIT = 100;

interface Services {
  /** Base of public URLs, without a slash at its end. */
  config: { publicUrl: string };
  database: Database;
}

export const listWorkflows = defineEndpoint({
  method: 'get',
  since: '1.1.0',
  access: apiRole('WORKFLOW_INSTANCE_VIEW'),
  summary: 'List workflows',
  description: `An addition of Inlet. Lists the workflows of events that the account may read, the latest first; at most ${DEFAULT_LIMIT} unless \`limit\` is given.`,
  ...listDeclaration(WORKFLOW_LIST, {
    path: '/api/workflows',
    filter: z.string().optional(),
    filterHint: '`state` is that of the workflow, such as `failed`; a repeated name matches any of its values.',
    filterExample: `event:${EVENT_ID},state:failed`,
    sortExample: 'created:ASC',
    flags: WorkflowQuery.shape,
    page: { description: 'A page of workflows.', body: z.array(Workflow), example: [WORKFLOW] },
    refusals: [INVALID_STATE],
  }),
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
