import { z } from 'zod';
import { flag, TextByName } from '#platform/http/endpoint/endpoint-schemas.ts';
import { refusal } from '#platform/http/errors/errors.ts';
import { OPERATION_MOVES, WORKFLOW_MOVES, type WorkflowState } from './workflow-states.ts';

const states = Object.keys(WORKFLOW_MOVES) as WorkflowState[];

/** The state of an event's workflow; empty for an event without one. */
export const ProcessingState = z.enum(['', ...states]).meta({ id: 'ProcessingState' });
export type ProcessingState = z.infer<typeof ProcessingState>;

/** Optional parts of a workflow. */
export const WorkflowQuery = z.object({
  withconfiguration: flag('Include its configuration.'),
  withoperations: flag('Include its operations.'),
});
export type WorkflowQuery = z.infer<typeof WorkflowQuery>;

export const INVALID_STATE = refusal(400, (state: string) => `Invalid workflow state '${state}'`, ['flying']);

/** The requested state of a workflow; `retry` runs it again after it failed or was stopped. */
export const RequestedState = z.enum(['running', 'paused', 'stopped', 'retry'], {
  error: ({ input }) => INVALID_STATE.sentence(String(input).slice(0, 100)),
});
export type RequestedState = z.infer<typeof RequestedState>;

export const Workflow = z
  .object({
    identifier: z.int(),
    title: z.string(),
    description: z.string(),
    workflow_definition_identifier: z.string(),
    event_identifier: z.string(),
    creator: z.string(),
    state: z.enum(states.map((state) => state.toLowerCase())),
    reason: z.string().optional().describe('An addition of Inlet: why it failed.'),
    configuration: TextByName.optional().describe('With `withconfiguration`.'),
    warnings: z
      .array(z.string())
      .optional()
      .describe(
        'An addition of Inlet: possible problems of the tracks of the event, each with its flavor. Missing without problems.',
      ),
    operations: z
      .array(
        z.object({
          operation: z.string(),
          description: z.string(),
          state: z.enum(Object.keys(OPERATION_MOVES).filter((state) => state !== 'divided')),
          progress: z.number().min(0).max(1).describe('An addition of Inlet: its progress.'),
          on_failure: z
            .boolean()
            .describe('An addition of Inlet: true for operations that run when the workflow fails.'),
          reason: z.string().optional().describe('An addition of Inlet: why it failed, or is retried.'),
        }),
      )
      .optional()
      .describe('With `withoperations`.'),
  })
  .meta({ id: 'Workflow' });
export type WorkflowJson = z.infer<typeof Workflow>;
