import { z } from 'zod';
import { TextByName } from '../http/schemas.ts';
import { OPERATION_MOVES, WORKFLOW_MOVES, type WorkflowState } from './states.ts';

const states = Object.keys(WORKFLOW_MOVES) as WorkflowState[];

/** The state an event's workflow is in, as events tell it; empty for an event that has none. */
export const ProcessingState = z.enum(['', ...states]).meta({ id: 'ProcessingState' });

/** A workflow instance. */
export const Workflow = z
  .object({
    identifier: z.int(),
    title: z.string(),
    description: z.string(),
    workflow_definition_identifier: z.string(),
    event_identifier: z.string(),
    creator: z.string(),
    state: z.enum(states.map((state) => state.toLowerCase())),
    configuration: TextByName.optional().describe('With `withconfiguration`.'),
    operations: z
      .array(
        z.object({
          operation: z.string(),
          description: z.string(),
          state: z.enum(Object.keys(OPERATION_MOVES)),
        }),
      )
      .optional()
      .describe('With `withoperations`.'),
  })
  .meta({ id: 'Workflow' });
