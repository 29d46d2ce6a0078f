import type { Context } from 'hono';
import { type Action, requireAccess } from '#access/acl/acl.queries.ts';
import type { Queryable } from '#platform/database/kysely.ts';
import { findWorkflow, type WorkflowRow } from './queries.ts';
import { WORKFLOW_MISSING } from './refusals.ts';

/**
 * The workflow that a client names, if it may do that with its event.
 *
 * @throws {HttpError} 404 when it may not even read the event, 401 when it may read but not write it
 */
export async function accessibleWorkflow(
  db: Queryable,
  c: Context,
  id: string,
  action: Action,
): Promise<WorkflowRow> {
  const workflow = /^[1-9]\d{0,14}$/.test(id) ? await findWorkflow(db, Number(id)) : undefined;
  const missing = () => WORKFLOW_MISSING(id);
  if (!workflow) throw missing();
  await requireAccess(db, 'events', c.var.principal, workflow.event_id, action, missing);
  return workflow;
}
