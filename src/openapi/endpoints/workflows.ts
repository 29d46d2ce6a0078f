import { z } from 'zod';
import { WantedState, Workflow, WorkflowQuery } from '../../workflows/workflow.schemas.ts';
import type { Endpoint } from '../endpoint.ts';
import { WORKFLOW } from '../examples.ts';

const MISSING = "Cannot find workflow instance with id '42'.";

/** How the processing of an event goes on. */
export const WORKFLOWS: readonly Endpoint[] = [
  {
    method: 'get',
    path: '/api/workflows/{workflow_id}',
    tag: 'Workflows',
    summary: 'Read a workflow',
    description: 'For whoever may read its event.',
    query: WorkflowQuery,
    answers: { 200: { description: 'The workflow.', body: Workflow, example: WORKFLOW } },
    refusals: { 404: MISSING },
  },
  {
    method: 'put',
    path: '/api/workflows/{workflow_id}',
    tag: 'Workflows',
    summary: 'Resume or stop a workflow',
    description: 'For whoever may change its event.',
    query: WorkflowQuery,
    form: {
      encoding: 'any',
      schema: z.object({
        state: WantedState.optional().describe('Without it nothing changes.'),
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
    refusals: {
      400: "Invalid workflow state 'flying'",
      404: MISSING,
      409: 'The workflow cannot go from SUCCEEDED to RUNNING.',
    },
  },
];
