import type { Context } from 'hono';
import { z } from 'zod';
import { ADMINISTRATORS } from '#access/roles/api-roles.ts';
import { deleteEvent } from '#catalogue/events/delete-event.ts';
import type { Database } from '#platform/database/kysely.ts';
import { defineEndpoint } from '#platform/http/endpoint/endpoint.ts';
import { conflict, HttpError, refusal } from '#platform/http/errors/errors.ts';
import type { StagingLedger } from '#platform/storage/staging.ts';
import { controlWorkflow } from '#processing/control-workflow.ts';
import type { WorkflowDefinitions } from '#processing/load-definitions.ts';
import { reasonKey } from '#processing/reason-key.ts';
import { EventNotReady, startOnRequest } from '#processing/start-on-request.ts';
import { RequestedState } from '#processing/workflow.schemas.ts';
import { findWorkflow } from '#processing/workflow-queries.ts';
import { WORKFLOW_MISSING } from '#processing/workflow-refusals.ts';
import { failedRecordings } from './dashboard/work.queries.ts';
import { redirectWithNotice } from './frame/operator-page.ts';

const GONE = refusal(404, 'The recording has already been deleted.');

interface Services {
  database: Database;
  staging: StagingLedger;
  definitions: WorkflowDefinitions;
}

const NOTICES: Readonly<Record<RequestedState, string>> = {
  running: 'The workflow is resumed.',
  paused: 'The workflow pauses after its running operations.',
  stopped: 'The workflow is stopped.',
  retry: 'The workflow is retried.',
};

const WorkflowNumber = z
  .string()
  .regex(/^[1-9]\d{0,14}$/, {
    error: "The form parameter 'workflow' must be the identifier of a workflow (a positive integer).",
  })
  .transform(Number);

/** The page with the button. */
const back = z.enum(['now', 'recording']).default('recording');

function leadBack(c: Context, page: z.infer<typeof back>, eventId: string, notice: string): Response {
  const path = page === 'now' ? 'admin' : `admin/recordings/${encodeURIComponent(eventId)}`;
  return redirectWithNotice(c, path, notice);
}

/** Resumes, pauses, stops or retries the workflow of a recording. */
export const operatorControl = defineEndpoint({
  method: 'post',
  path: '/admin/recordings/{event_id}/workflow',
  access: ADMINISTRATORS,
  form: {
    schema: z.object({ workflow: WorkflowNumber, state: RequestedState, back }),
    example: { workflow: '42', state: 'retry' },
  },
  handle: async ({ c, params, form }, { database }: Services) => {
    const { workflow, state, back } = await form();
    const found = await findWorkflow(database, workflow);
    if (found?.event_id !== params.event_id) throw WORKFLOW_MISSING(String(workflow));
    await controlWorkflow(database, workflow, { wanted: state, by: c.var.principal.username });
    return leadBack(c, back, params.event_id, NOTICES[state]);
  },
});

/** Starts a workflow for a recording. */
export const operatorStart = defineEndpoint({
  method: 'post',
  path: '/admin/recordings/{event_id}/start',
  access: ADMINISTRATORS,
  form: { schema: z.object({ definition: z.string() }), example: { definition: 'publish' } },
  handle: async ({ c, params, form }, services: Services) => {
    const { definition } = await form();
    try {
      const { principal, requestId } = c.var;
      const source = { principal, requestId, definitions: services.definitions };
      const id = await startOnRequest(
        services.database,
        params.event_id,
        { workflow: definition, configuration: {} },
        source,
      );
      return leadBack(c, 'recording', params.event_id, `Workflow ${id} is started.`);
    } catch (error) {
      throw error instanceof EventNotReady ? conflict(error.message) : error;
    }
  },
});

/** Deletes a recording. */
export const operatorDelete = defineEndpoint({
  method: 'post',
  path: '/admin/recordings/{event_id}/delete',
  access: ADMINISTRATORS,
  handle: async ({ c, params }, services: Services) => {
    await deleteEvent(params.event_id, c.var.principal, services).catch((error) => {
      throw error instanceof HttpError && error.status === 404 ? GONE() : error;
    });
    return redirectWithNotice(c, 'admin', 'The recording has been deleted.');
  },
});

/** Retries all recordings that failed for one reason. Skips those that are no longer failed. */
export const operatorRetryAll = defineEndpoint({
  method: 'post',
  path: '/admin/failed/retry',
  access: ADMINISTRATORS,
  form: { schema: z.object({ reason: z.string() }), example: { reason: 'The file is damaged.' } },
  handle: async ({ c, form }, { database }: Services) => {
    const { reason: sent } = await form();
    // Forms send line breaks as CRLF.
    const reason = sent.replaceAll('\r\n', '\n');
    const failed = (await failedRecordings(database)).filter((each) => reasonKey(each.reason) === reason);
    let retried = 0;
    for (const { workflowId } of failed) {
      try {
        await controlWorkflow(database, workflowId, { wanted: 'retry', by: c.var.principal.username });
        retried += 1;
      } catch (error) {
        if (!(error instanceof HttpError)) throw error;
      }
    }
    return redirectWithNotice(c, 'admin', `${retried === 1 ? '1 recording is' : `${retried} recordings are`} retried.`);
  },
});
