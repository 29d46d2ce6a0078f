import type { Context } from 'hono';
import { z } from 'zod';
import { type Action, requireAccess } from '../access/acl/acl.queries.ts';
import { ADMINISTRATORS, apiRole } from '../access/roles/api-roles.ts';
import type { Database } from '../database/kysely.ts';
import { checked } from '../http/endpoint/check.ts';
import { defineEndpoint } from '../http/endpoint/endpoint.ts';
import { refusal } from '../http/endpoint/refusal.ts';
import { pathParameter } from '../http/endpoint/schemas.ts';
import { versionedJson } from '../http/version.ts';
import { advance, type Change } from './advance.ts';
import { WORKFLOW } from './examples.ts';
import { findWorkflow, type WorkflowRow, workflowsOfEvent } from './queries.ts';
import { IllegalMove } from './states.ts';
import {
  INVALID_STATE,
  WantedState,
  Workflow,
  type WorkflowJson,
  WorkflowQuery,
} from './workflow.schemas.ts';

/** What a client may ask of a workflow, by the state it wants. */
const CHANGES: Readonly<Record<WantedState, Change>> = {
  running: { kind: 'resumed' },
  stopped: { kind: 'stopped' },
};

const MISSING = refusal(404, (id: string) => `Cannot find workflow instance with id '${id}'.`, ['42']);
const NO_MOVE = refusal(409, (from: string, to: string) => `The workflow cannot go from ${from} to ${to}.`, [
  'SUCCEEDED',
  'RUNNING',
]);

const params = {
  workflow_id: pathParameter('Number of the workflow.', '42').meta({ override: { type: 'integer' } }),
};

interface Services {
  database: Database;
}

/** One workflow (compatibility 6). */
export const readWorkflow = defineEndpoint({
  method: 'get',
  path: '/api/workflows/{workflow_id}',
  since: '1.1.0',
  access: apiRole('WORKFLOW_INSTANCE_VIEW'),
  summary: 'Read a workflow',
  description: 'For whoever may read its event.',
  params,
  query: WorkflowQuery,
  answers: { 200: { description: 'The workflow.', body: Workflow, example: WORKFLOW } },
  refusals: [MISSING],
  handle: async ({ c, params, query }, { database }: Services) => {
    const workflow = await accessible(database, c, params.workflow_id, 'read');
    return versionedJson(c, workflowJson(workflow, query()));
  },
});

export const controlWorkflow = defineEndpoint({
  method: 'put',
  path: '/api/workflows/{workflow_id}',
  since: '1.1.0',
  access: apiRole('WORKFLOW_INSTANCE_EDIT'),
  summary: 'Resume or stop a workflow',
  description: 'For whoever may change its event.',
  params,
  query: WorkflowQuery,
  form: {
    schema: z.object({ state: WantedState.optional().describe('Without it nothing changes.') }),
    example: { state: 'running' },
  },
  answers: {
    200: {
      description: 'The workflow as it is now.',
      body: Workflow,
      example: { ...WORKFLOW, state: 'running' },
    },
  },
  refusals: [INVALID_STATE, MISSING, NO_MOVE],
  handle: async ({ c, params, query, fields }, { database }: Services) => {
    const workflow = await accessible(database, c, params.workflow_id, 'write');
    const state = (await fields()).get('state');
    if (state) {
      const change = CHANGES[checked(WantedState, state)];
      await database
        .transaction()
        .execute((trx) => advance(trx, workflow.id, change))
        .catch((error) => {
          throw error instanceof IllegalMove ? NO_MOVE(error.from, error.to) : error;
        });
    }
    const changed = await findWorkflow(database, workflow.id);
    return versionedJson(c, workflowJson(changed ?? workflow, query()));
  },
});

/** How far the processing of an event is, and why it failed. For operators; the contract has no place for it. */
export const workflowsForOperators = defineEndpoint({
  method: 'get',
  path: '/admin/events/{event_id}/workflows',
  access: ADMINISTRATORS,
  handle: async ({ c, params }, { database }: Services) =>
    c.json(await workflowsOfEvent(database, params.event_id)),
});

async function accessible(database: Database, c: Context, id: string, action: Action): Promise<WorkflowRow> {
  const workflow = /^[1-9]\d{0,14}$/.test(id) ? await findWorkflow(database, Number(id)) : undefined;
  if (!workflow) throw MISSING(id);
  await requireAccess(database, 'events', c.var.principal, workflow.event_id, action, () => MISSING(id));
  return workflow;
}
function workflowJson(workflow: WorkflowRow, query: WorkflowQuery): WorkflowJson {
  return {
    identifier: workflow.id,
    title: workflow.title,
    description: '',
    workflow_definition_identifier: workflow.definition,
    event_identifier: workflow.event_id,
    creator: workflow.creator,
    state: workflow.state.toLowerCase(),
    ...(workflow.warnings.length > 0 && { warnings: workflow.warnings }),
    ...(query.withconfiguration && {
      configuration: workflow.configuration as WorkflowJson['configuration'],
    }),
    ...(query.withoperations && {
      operations: workflow.operations.map(({ operation, description, state }) => ({
        operation,
        description,
        state,
      })),
    }),
  };
}
