import { sql } from 'kysely';
import type { Queryable } from '#platform/database/kysely.ts';
import type { WorkflowJson, WorkflowQuery } from './workflow.schemas.ts';

/** An operation as operators see it; times as the database returns them. */
interface OperationProgress {
  operation: string;
  description: string;
  state: string;
  on_failure: boolean;
  progress: number;
  attempts: number;
  reason: string | null;
  log: string | null;
  started_at: string | null;
  finished_at: string | null;
}

export type WorkflowRow = Awaited<ReturnType<typeof workflowsOfEvent>>[number];

export function workflowsOfEvent(database: Queryable, eventId: string) {
  return workflowRows(database).where('event_id', '=', eventId).orderBy('id', 'desc').execute();
}

export function findWorkflow(database: Queryable, id: number) {
  return workflowRows(database).where('id', '=', id).executeTakeFirst();
}

/** Returns the numbers of an event's running operations. */
export async function operationsUnderWay(db: Queryable, eventId: string): Promise<number[]> {
  const rows = await db
    .selectFrom('workflow_operations as o')
    .innerJoin('workflows as w', 'w.id', 'o.workflow_id')
    .select('o.id')
    .where('w.event_id', '=', eventId)
    .where('o.state', '=', 'running')
    .execute();
  return rows.map(({ id }) => id);
}

export function workflowRows(database: Queryable) {
  return database
    .selectFrom('workflows')
    .select([
      'id',
      'event_id',
      'definition',
      'title',
      'configuration',
      'state',
      'creator',
      'reason',
      'created_at',
      'finished_at',
    ])
    .select(
      sql<OperationProgress[]>`(SELECT coalesce(jsonb_agg(jsonb_build_object(
        'operation', operation, 'description', description, 'state', state,
        'on_failure', on_failure, 'progress', progress, 'attempts', attempts, 'reason', reason, 'log', log,
        'started_at', started_at, 'finished_at', finished_at) ORDER BY position), '[]')
        FROM workflow_operations WHERE workflow_id = workflows.id)`.as('operations'),
    )
    .select(
      sql<string[]>`(SELECT coalesce(jsonb_agg(flavor || ': ' || warning ORDER BY position), '[]')
        FROM tracks, unnest(warnings) AS warning WHERE event_id = workflows.event_id)`.as('warnings'),
    );
}

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
