import { z } from 'zod';
import { apiRole } from '#access/roles/api-roles.ts';
import type { Database } from '#platform/database/kysely.ts';
import { versionedJson } from '#platform/http/answer/version.ts';
import { defineEndpoint } from '#platform/http/endpoint/endpoint.ts';
import { createdHeaders, EXAMPLE_URL } from '#platform/http/endpoint/endpoint-schemas.ts';
import type { WorkflowDefinitions } from './load-definitions.ts';
import { parseConfiguration } from './processing-request.ts';
import { EventNotReady, HAS_ACTIVE_WORKFLOW, startOnRequest } from './start-on-request.ts';
import { Workflow, WorkflowQuery } from './workflow.schemas.ts';
import { EVENT_ID, WORKFLOW } from './workflow-examples.ts';
import { findWorkflow, workflowJson } from './workflow-queries.ts';
import {
  DEFINITION_MISSING,
  EVENT_MISSING,
  INVALID_CONFIGURATION,
  INVALID_HEIGHTS,
  MISSING_PARAMETER,
} from './workflow-refusals.ts';

interface Services {
  /** Base of public URLs, without a slash at its end. */
  config: { publicUrl: string };
  database: Database;
  definitions: WorkflowDefinitions;
}

/** Processes an event again, or in another way, such as `publish` and `retract`. */
export const createWorkflow = defineEndpoint({
  method: 'post',
  path: '/api/workflows',
  since: '1.1.0',
  access: apiRole('WORKFLOW_INSTANCE_CREATE'),
  summary: 'Start a workflow',
  description:
    'Needs write access to the event. The event must not have an active workflow. `publish` publishes it again, `republish-metadata` updates the metadata of its publications, `retract` removes its publications.',
  query: WorkflowQuery,
  form: {
    schema: z.object({
      event_identifier: z.string().optional().describe('Identifier of the event. Required.'),
      workflow_definition_identifier: z
        .string()
        .optional()
        .describe('Identifier of the workflow definition, or one of its other names. Required.'),
      configuration: z
        .string()
        .optional()
        .meta({ description: 'Values of its configuration keys.', contentMediaType: 'application/json' }),
    }),
    example: {
      event_identifier: EVENT_ID,
      workflow_definition_identifier: 'publish',
      configuration: '{"publishToEngage":"true"}',
    },
  },
  answers: {
    201: {
      description: 'The workflow has been started.',
      body: Workflow,
      example: { ...WORKFLOW, state: 'instantiated' },
      headers: createdHeaders(`${EXAMPLE_URL}/api/workflows/42`),
    },
    409: {
      description: 'The event is being processed, or its recording is missing.',
      body: z.object({ message: z.string() }),
      example: { message: HAS_ACTIVE_WORKFLOW },
    },
  },
  refusals: [MISSING_PARAMETER, INVALID_CONFIGURATION, INVALID_HEIGHTS, EVENT_MISSING, DEFINITION_MISSING],
  handle: async ({ c, query, fields }, { config, database, definitions }: Services) => {
    const form = await fields();
    const needed = (name: string) => {
      const value = form.get(name)?.trim();
      if (!value) throw MISSING_PARAMETER(name);
      return value;
    };
    const eventId = needed('event_identifier');
    const workflow = needed('workflow_definition_identifier');
    const configuration = parseConfiguration(form.get('configuration')) ?? {};
    const { principal, requestId } = c.var;
    try {
      const source = { principal, requestId, definitions };
      const id = await startOnRequest(database, eventId, { workflow, configuration }, source);
      const started = await findWorkflow(database, id);
      if (!started) throw EVENT_MISSING(eventId);
      const Location = `${config.publicUrl}/api/workflows/${id}`;
      return versionedJson(c, workflowJson(started, query()), 201, { Location });
    } catch (error) {
      // The only refusal here that is not plain text (compatibility 6).
      if (error instanceof EventNotReady) return versionedJson(c, { message: error.message }, 409);
      throw error;
    }
  },
});
