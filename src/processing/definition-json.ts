import type { DefinitionJson, DefinitionQuery } from './definition.schemas.ts';
import type { WorkflowDefinition } from './definition.ts';

/** A workflow definition as the API shows it; what Inlet knows nothing of is as in a definition that says nothing of it. */
export function definitionJson(definition: WorkflowDefinition, query: DefinitionQuery): DefinitionJson {
  const { id, title, description, tags, configuration_panel, configuration_panel_json } = definition;
  return {
    identifier: id,
    title,
    description,
    tags,
    ...(query.withconfigurationpanel && { configuration_panel }),
    ...(query.withconfigurationpaneljson && { configuration_panel_json }),
    ...(query.withoperations && { operations: operationsOf(definition) }),
  };
}

function operationsOf({ operations, on_failure }: WorkflowDefinition): DefinitionJson['operations'] {
  return [...operations, ...on_failure].map((operation) => ({
    operation: operation.operation,
    description: operation.description,
    configuration: operation.configuration,
    if: operation.if?.source ?? '',
    unless: '',
    fail_workflow_on_error: true,
    error_handler_workflow: '',
    retry_strategy: operation.retries > 0 ? 'retry' : 'none',
    max_attempts: operation.retries + 1,
  }));
}
