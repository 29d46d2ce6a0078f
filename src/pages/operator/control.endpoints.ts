import type { Context } from 'hono';
import { z } from 'zod';
import { ADMINISTRATORS } from '#access/roles/api-roles.ts';
import { deleteEvent } from '#catalogue/events/delete-event.ts';
import type { Database } from '#platform/database/kysely.ts';
import { defineEndpoint } from '#platform/http/endpoint/endpoint.ts';
import { conflict, HttpError } from '#platform/http/errors/errors.ts';
import { refusal } from '#platform/http/errors/refusal.ts';
import type { StagingLedger } from '#platform/storage/staging.ts';
import { controlWorkflow } from '#processing/control.ts';
import type { WorkflowDefinitions } from '#processing/definitions.ts';
import { findWorkflow } from '#processing/queries.ts';
import { reasonKey } from '#processing/reason-key.ts';
import { WORKFLOW_MISSING } from '#processing/refusals.ts';
import { NotNow, startOnRequest } from '#processing/start-on-request.ts';
import { WantedState } from '#processing/workflow.schemas.ts';
import { doneAt } from './frame/operator-page.ts';
import { failedRecordings } from './now/failed-recordings.ts';

const GONE = refusal(404, 'The recording has been deleted already.');

interface Services {
  database: Database;
  staging: StagingLedger;
  definitions: WorkflowDefinitions;
}

const DONE: Readonly<Record<WantedState, string>> = {
  running: 'It goes on.',
  paused: 'It is paused; what is under way is finished first.',
  stopped: 'It is stopped.',
  retry: 'It is tried again.',
};

const WorkflowNumber = z
  .string()
  .regex(/^[1-9]\d{0,14}$/, { error: "The form parameter 'workflow' is not the number of a workflow." })
  .transform(Number);

/** Where the button was. */
const back = z.enum(['now', 'recording']).default('recording');

function leadBack(c: Context, where: z.infer<typeof back>, eventId: string, notice: string): Response {
  return doneAt(c, where === 'now' ? 'admin' : `admin/recordings/${encodeURIComponent(eventId)}`, notice);
}

/** The buttons of operators that change how a recording is processed; each is a form of a page. */
export const operatorControl = defineEndpoint({
  method: 'post',
  path: '/admin/recordings/{event_id}/workflow',
  access: ADMINISTRATORS,
  form: {
    schema: z.object({ workflow: WorkflowNumber, state: WantedState, back }),
    example: { workflow: '42', state: 'retry' },
  },
  handle: async ({ c, params, form }, { database }: Services) => {
    const { workflow, state, back } = await form();
    const found = await findWorkflow(database, workflow);
    if (found?.event_id !== params.event_id) throw WORKFLOW_MISSING(String(workflow));
    await controlWorkflow(database, workflow, { wanted: state, by: c.var.principal.username });
    return leadBack(c, back, params.event_id, DONE[state]);
  },
});

export const operatorStart = defineEndpoint({
  method: 'post',
  path: '/admin/recordings/{event_id}/start',
  access: ADMINISTRATORS,
  form: { schema: z.object({ definition: z.string() }), example: { definition: 'publish' } },
  handle: async ({ c, params, form }, services: Services) => {
    const { definition } = await form();
    const wish = { eventId: params.event_id, definition, configuration: {} };
    try {
      const id = await startOnRequest(wish, c.var, services);
      return leadBack(c, 'recording', params.event_id, `Workflow ${id} has been started.`);
    } catch (error) {
      throw error instanceof NotNow ? conflict(error.message) : error;
    }
  },
});

export const operatorDelete = defineEndpoint({
  method: 'post',
  path: '/admin/recordings/{event_id}/delete',
  access: ADMINISTRATORS,
  form: { schema: z.object({ back }), example: { back: 'now' } },
  handle: async ({ c, params, form }, services: Services) => {
    const { back } = await form();
    await deleteEvent(params.event_id, c.var.principal, services).catch((error) => {
      throw error instanceof HttpError && error.status === 404 ? GONE() : error;
    });
    return leadBack(c, back, params.event_id, 'The recording has been deleted.');
  },
});

/** Tries again what failed for one reason; what somebody has taken care of meanwhile is left out. */
export const operatorRetryAll = defineEndpoint({
  method: 'post',
  path: '/admin/failed/retry',
  access: ADMINISTRATORS,
  form: { schema: z.object({ reason: z.string() }), example: { reason: 'The file is no recording.' } },
  handle: async ({ c, form }, { database }: Services) => {
    const { reason: sent } = await form();
    // As forms send what has lines.
    const reason = sent.replaceAll('\r\n', '\n');
    const meant = (await failedRecordings(database)).filter((each) => reasonKey(each.reason) === reason);
    let retried = 0;
    for (const { workflowId } of meant) {
      const wish = { wanted: 'retry', by: c.var.principal.username } as const;
      await controlWorkflow(database, workflowId, wish).then(
        () => {
          retried += 1;
        },
        (error) => {
          if (!(error instanceof HttpError)) throw error;
        },
      );
    }
    const those = retried === 1 ? '1 recording is' : `${retried} recordings are`;
    return doneAt(c, 'admin', `${those} tried again.`);
  },
});
