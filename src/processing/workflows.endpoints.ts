import type { Context } from 'hono';
import { z } from 'zod';
import { type Action, requireAccess } from '#access/acl/acl.queries.ts';
import { ADMINISTRATORS, apiRole } from '#access/roles/api-roles.ts';
import { recordChanges } from '#changes/record-changes.ts';
import type { Database, Queryable, Transaction } from '#platform/database/kysely.ts';
import { inTransaction } from '#platform/database/retry.ts';
import { versionedJson } from '#platform/http/answer/version.ts';
import { defineEndpoint } from '#platform/http/endpoint/endpoint.ts';
import { parseInput, pathParameter } from '#platform/http/endpoint/endpoint-schemas.ts';
import { controlWorkflow } from './control-workflow.ts';
import { parseConfiguration } from './processing-request.ts';
import { INVALID_STATE, RequestedState, Workflow, WorkflowQuery } from './workflow.schemas.ts';
import { WORKFLOW } from './workflow-examples.ts';
import { findWorkflow, type WorkflowRow, workflowJson, workflowsOfEvent } from './workflow-queries.ts';
import {
  ILLEGAL_MOVE,
  INVALID_CONFIGURATION,
  INVALID_HEIGHTS,
  NOT_DELETABLE,
  SUPERSEDED,
  WORKFLOW_MISSING,
} from './workflow-refusals.ts';
import { isActive } from './workflow-states.ts';

/** Finds the workflow of a request. @throws {HttpError} 404 or 401 without access to its event */
async function accessibleWorkflow(db: Queryable, c: Context, id: string, action: Action): Promise<WorkflowRow> {
  const workflow = /^[1-9]\d{0,14}$/.test(id) ? await findWorkflow(db, Number(id)) : undefined;
  const missing = () => WORKFLOW_MISSING(id);
  if (!workflow) throw missing();
  await requireAccess(db, 'events', c.var.principal, workflow.event_id, action, missing);
  return workflow;
}

/** Deletes a finished workflow; false when it is gone. @throws {HttpError} 409 for an active workflow */
async function removeWorkflow(trx: Transaction, id: number, by: string): Promise<boolean> {
  const workflow = await trx
    .selectFrom('workflows')
    .select(['event_id', 'definition', 'state'])
    .where('id', '=', id)
    .forUpdate()
    .executeTakeFirst();
  if (!workflow) return false;
  if (isActive(workflow.state)) throw NOT_DELETABLE();
  const { event_id: eventId, definition } = workflow;
  await trx.selectFrom('events').select('id').where('id', '=', eventId).forUpdate().execute();
  await trx.deleteFrom('workflows').where('id', '=', id).execute();
  const before = await trx
    .selectFrom('workflows')
    .select('state')
    .where('event_id', '=', eventId)
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst();
  const state = before?.state ?? '';
  await trx.updateTable('events').set({ processing_state: state }).where('id', '=', eventId).execute();
  const data = { workflow: id, definition, state };
  await recordChanges(trx, [{ kind: 'workflow.deleted', eventId, actor: by, data }]);
  return true;
}

const params = {
  workflow_id: pathParameter('Number of the workflow.', '42').meta({ override: { type: 'integer' } }),
};

interface Services {
  database: Database;
}

export const readWorkflow = defineEndpoint({
  method: 'get',
  path: '/api/workflows/{workflow_id}',
  since: '1.1.0',
  access: apiRole('WORKFLOW_INSTANCE_VIEW'),
  summary: 'Read a workflow',
  description: 'Needs read access to its event.',
  params,
  query: WorkflowQuery,
  answers: { 200: { description: 'The workflow.', body: Workflow, example: WORKFLOW } },
  refusals: [WORKFLOW_MISSING],
  handle: async ({ c, params, query }, { database }: Services) => {
    const workflow = await accessibleWorkflow(database, c, params.workflow_id, 'read');
    return versionedJson(c, workflowJson(workflow, query()));
  },
});

export const changeWorkflow = defineEndpoint({
  method: 'put',
  path: '/api/workflows/{workflow_id}',
  since: '1.1.0',
  access: apiRole('WORKFLOW_INSTANCE_EDIT'),
  summary: 'Pause, resume, stop or retry a workflow',
  description:
    'Needs write access to its event. `paused`: the running operation finishes, and no other one starts. `stopped`: the running operation stops immediately; a finished workflow stays as it is. `retry`, an addition of Inlet: a failed or stopped workflow continues with the operation that did not succeed.',
  params,
  query: WorkflowQuery,
  form: {
    schema: z.object({
      state: RequestedState.optional().describe('Without it the state does not change.'),
      configuration: z.string().optional().meta({
        description:
          'New values of configuration keys. They decide which of the operations that have not started will run.',
        contentMediaType: 'application/json',
      }),
    }),
    example: { state: 'running' },
  },
  answers: {
    200: {
      description: 'The changed workflow.',
      body: Workflow,
      example: { ...WORKFLOW, state: 'running' },
    },
  },
  refusals: [INVALID_STATE, INVALID_CONFIGURATION, INVALID_HEIGHTS, WORKFLOW_MISSING, ILLEGAL_MOVE, SUPERSEDED],
  handle: async ({ c, params, query, fields }, { database }: Services) => {
    const workflow = await accessibleWorkflow(database, c, params.workflow_id, 'write');
    const form = await fields();
    const state = form.get('state');
    const configuration = parseConfiguration(form.get('configuration'));
    const wanted = state ? parseInput(RequestedState, state) : undefined;
    const by = c.var.principal.username;
    // Libraries stop what they have started, whether or not it has finished since.
    await controlWorkflow(database, workflow.id, { wanted, configuration, by, mayBeFinished: true });
    const changed = await findWorkflow(database, workflow.id);
    return versionedJson(c, workflowJson(changed ?? workflow, query()));
  },
});

export const deleteWorkflow = defineEndpoint({
  method: 'delete',
  path: '/api/workflows/{workflow_id}',
  since: '1.1.0',
  access: apiRole('WORKFLOW_INSTANCE_DELETE'),
  summary: 'Delete a workflow',
  description: 'Needs write access to its event. The workflow must be finished. Its results stay.',
  params,
  answers: { 204: { description: 'The workflow was deleted.' } },
  refusals: [WORKFLOW_MISSING, NOT_DELETABLE],
  handle: async ({ c, params }, { database }: Services) => {
    const { id } = await accessibleWorkflow(database, c, params.workflow_id, 'write');
    const removed = await inTransaction(database, (trx) => removeWorkflow(trx, id, c.var.principal.username));
    if (!removed) throw WORKFLOW_MISSING(params.workflow_id);
    return c.body(null, 204);
  },
});

/** Progress and errors of the processing of an event, for operators; the contract has no endpoint for it. */
export const workflowsForOperators = defineEndpoint({
  method: 'get',
  path: '/admin/events/{event_id}/workflows',
  access: ADMINISTRATORS,
  handle: async ({ c, params }, { database }: Services) => c.json(await workflowsOfEvent(database, params.event_id)),
});
