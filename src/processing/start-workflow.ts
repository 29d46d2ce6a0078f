import type { Principal } from '#access/principal.ts';
import type { Transaction } from '#platform/database/kysely.ts';
import { currentTrace } from '#platform/telemetry/tracing.ts';
import { advance } from './advance-workflow.ts';
import type { WorkflowDefinitions } from './load-definitions.ts';
import type { Processing } from './processing-request.ts';
import type { WorkflowDefinition } from './workflow-definition.ts';

export interface WorkflowStart {
  eventId: string;
  definition: WorkflowDefinition;
  /** Values of the client; they override the definition's defaults. */
  configuration: Readonly<Record<string, string>>;
  creator: string;
  requestId: string;
}

/** The origin of a request to process an event, and the available workflows. */
export interface ProcessingSource {
  principal: Principal;
  requestId: string;
  definitions: WorkflowDefinitions;
}

/** Starts the processing of an event. An unknown workflow name stands for the default one. @returns its number */
export async function startProcessing(
  trx: Transaction,
  eventId: string,
  { workflow, configuration }: Processing,
  { principal, requestId, definitions }: ProcessingSource,
): Promise<number> {
  const definition = definitions.resolve(workflow);
  return startWorkflow(trx, { eventId, definition, configuration, creator: principal.username, requestId });
}

/**
 * Inserts a workflow with its operations and makes the first one ready. Conditions read nothing but the configuration;
 * they are evaluated here, and again when it changes. @returns its number
 */
export async function startWorkflow(trx: Transaction, start: WorkflowStart): Promise<number> {
  const configuration = { ...start.definition.configuration, ...start.configuration };
  const { id } = await trx
    .insertInto('workflows')
    .values({
      event_id: start.eventId,
      definition: start.definition.id,
      title: start.definition.title,
      configuration: JSON.stringify(configuration),
      state: 'INSTANTIATED',
      creator: start.creator,
      request_id: start.requestId,
      traceparent: currentTrace(),
    })
    .returning('id')
    .executeTakeFirstOrThrow();
  const { operations, on_failure } = start.definition;
  await trx
    .insertInto('workflow_operations')
    .values(
      [...operations, ...on_failure].map((operation, position) => ({
        workflow_id: id,
        position,
        operation: operation.operation,
        description: operation.description,
        configuration: JSON.stringify(operation.configuration),
        state: !operation.if || operation.if.test(configuration) ? 'waiting' : 'skipped',
        condition: operation.if?.source ?? null,
        on_failure: position >= operations.length,
        max_attempts: operation.retries + 1,
        time_limit_ms: operation.time_limit,
        optional: operation.optional,
      })),
    )
    .execute();
  await advance(trx, id, { kind: 'started', by: start.creator });
  return id;
}
