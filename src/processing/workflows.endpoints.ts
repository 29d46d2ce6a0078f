import type { Context } from 'hono';
import { z } from 'zod';
import { type Action, requireAccess } from '#access/acl/acl.queries.ts';
import { ADMINISTRATORS, apiRole } from '#access/roles/api-roles.ts';
import { recordChanges } from '#changes/record.ts';
import type { Database, Queryable, Transaction } from '#platform/database/kysely.ts';
import { inTransaction } from '#platform/database/retry.ts';
import { versionedJson } from '#platform/http/answer/version.ts';
import { checked } from '#platform/http/endpoint/check.ts';
import { defineEndpoint } from '#platform/http/endpoint/endpoint.ts';
import { pathParameter } from '#platform/http/endpoint/schemas.ts';
import { parseConfiguration } from './configuration.ts';
import { controlWorkflow } from './control.ts';
import { WORKFLOW } from './examples.ts';
import { workflowJson } from './json.ts';
import { findWorkflow, type WorkflowRow, workflowsOfEvent } from './queries.ts';
import { INVALID_CONFIGURATION, NO_MOVE, NOT_DELETABLE, SUPERSEDED, WORKFLOW_MISSING } from './refusals.ts';
import { isActive } from './states.ts';
import { INVALID_STATE, WantedState, Workflow, WorkflowQuery } from './workflow.schemas.ts';

/**
 * The workflow that a client names, if it may do that with its event.
 *
 * @throws {HttpError} 404 when it may not even read the event, 401 when it may read but not write it
 */
async function accessibleWorkflow(db: Queryable, c: Context, id: string, action: Action): Promise<WorkflowRow> {
  const workflow = /^[1-9]\d{0,14}$/.test(id) ? await findWorkflow(db, Number(id)) : undefined;
  const missing = () => WORKFLOW_MISSING(id);
  if (!workflow) throw missing();
  await requireAccess(db, 'events', c.var.principal, workflow.event_id, action, missing);
  return workflow;
}

/**
 * Forgets a workflow that has ended. Its event is in the state of the workflow before it, or in none.
 *
 * @param by the account that asks for it
 * @returns false when it is gone
 * @throws {HttpError} 409 for one that goes on
 */
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
    'For whoever may change its event. `paused`: the operation under way is finished, and none begun. `stopped`: the operation under way ends at once. `retry`, an addition of Inlet: what failed or was stopped goes on with the operation that did not succeed.',
  params,
  query: WorkflowQuery,
  form: {
    schema: z.object({
      state: WantedState.optional().describe('Without it the state stays.'),
      configuration: z.string().optional().meta({
        description: 'Other values of configuration keys, by which operations take part that have not begun.',
        contentMediaType: 'application/json',
      }),
    }),
    example: { state: 'running' },
  },
  answers: {
    200: {
      description: 'The workflow as it is now.',
      body: Workflow,
      example: { ...WORKFLOW, state: 'running' },
    },
  },
  refusals: [INVALID_STATE, INVALID_CONFIGURATION, WORKFLOW_MISSING, NO_MOVE, SUPERSEDED],
  handle: async ({ c, params, query, fields }, { database }: Services) => {
    const workflow = await accessibleWorkflow(database, c, params.workflow_id, 'write');
    const form = await fields();
    const state = form.get('state');
    const configuration = parseConfiguration(form.get('configuration'));
    const wanted = state ? checked(WantedState, state) : undefined;
    await controlWorkflow(database, workflow.id, { wanted, configuration, by: c.var.principal.username });
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
  description: 'For whoever may change its event, once the workflow has ended. What it made stays.',
  params,
  answers: { 204: { description: 'It is gone.' } },
  refusals: [WORKFLOW_MISSING, NOT_DELETABLE],
  handle: async ({ c, params }, { database }: Services) => {
    const { id } = await accessibleWorkflow(database, c, params.workflow_id, 'write');
    const removed = await inTransaction(database, (trx) => removeWorkflow(trx, id, c.var.principal.username));
    if (!removed) throw WORKFLOW_MISSING(params.workflow_id);
    return c.body(null, 204);
  },
});

/** How far the processing of an event is, and why it failed. For operators; the contract has no place for it. */
export const workflowsForOperators = defineEndpoint({
  method: 'get',
  path: '/admin/events/{event_id}/workflows',
  access: ADMINISTRATORS,
  handle: async ({ c, params }, { database }: Services) => c.json(await workflowsOfEvent(database, params.event_id)),
});
