import { sql } from 'kysely';
import { jsonArrayFrom } from 'kysely/helpers/postgres';
import type { Queryable } from '#platform/database/kysely.ts';
import type { WorkflowJson, WorkflowQuery } from './workflow.schemas.ts';

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
    .select((eb) => {
      const operations = eb
        .selectFrom('workflow_operations')
        .whereRef('workflow_id', '=', 'workflows.id')
        .where('parent_id', 'is', null);
      const state = operations.select(['operation', 'description', 'state', 'on_failure', 'progress', 'attempts']);
      const outcome = state.select(['reason', 'log', 'started_at', 'finished_at']);
      return jsonArrayFrom(outcome.orderBy('position')).as('operations');
    })
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
        state: state === 'divided' ? 'running' : state,
        progress,
        on_failure,
        ...(reason !== null && { reason }),
      })),
    }),
  };
}
