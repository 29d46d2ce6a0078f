import type { WorkflowRow } from './queries.ts';
import type { WorkflowJson, WorkflowQuery } from './workflow.schemas.ts';

/** Converts a workflow instance for the API. */
export function workflowJson(workflow: WorkflowRow, query: WorkflowQuery): WorkflowJson {
  return {
    identifier: workflow.id,
    title: workflow.title,
    description: '',
    workflow_definition_identifier: workflow.definition,
    event_identifier: workflow.event_id,
    creator: workflow.creator,
    state: workflow.state.toLowerCase(),
    ...(workflow.reason !== null && { reason: workflow.reason }),
    ...(workflow.warnings.length > 0 && { warnings: workflow.warnings }),
    ...(query.withconfiguration && {
      configuration: workflow.configuration as WorkflowJson['configuration'],
    }),
    ...(query.withoperations && {
      operations: workflow.operations.map(({ operation, description, state, on_failure, progress, reason }) => ({
        operation,
        description,
        state,
        progress,
        on_failure,
        ...(reason !== null && { reason }),
      })),
    }),
  };
}
