import { sql } from 'kysely';
import type { Queryable } from '../database/kysely.ts';

/** What people want to know of an operation; times as the database gives them. */
export interface OperationProgress {
  operation: string;
  description: string;
  state: string;
  /** From 0 to 1. */
  progress: number;
  /** Attempts that ended with a fault. */
  attempts: number;
  reason: string | null;
  log: string | null;
  started_at: string | null;
  finished_at: string | null;
}

/** A workflow instance with its operations in order. */
export type WorkflowRow = Awaited<ReturnType<typeof workflowsOfEvent>>[number];

/** The workflows of an event, the latest first. */
export function workflowsOfEvent(database: Queryable, eventId: string) {
  return workflowRows(database).where('event_id', '=', eventId).orderBy('id', 'desc').execute();
}

export function findWorkflow(database: Queryable, id: number) {
  return workflowRows(database).where('id', '=', id).executeTakeFirst();
}

function workflowRows(database: Queryable) {
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
      'created_at',
      'finished_at',
    ])
    .select(
      sql<OperationProgress[]>`(SELECT coalesce(jsonb_agg(jsonb_build_object(
        'operation', operation, 'description', description, 'state', state, 'progress', progress,
        'attempts', attempts, 'reason', reason, 'log', log,
        'started_at', started_at, 'finished_at', finished_at) ORDER BY position), '[]')
        FROM workflow_operations WHERE workflow_id = workflows.id)`.as('operations'),
    )
    .select(
      sql<string[]>`(SELECT coalesce(jsonb_agg(flavor || ': ' || warning ORDER BY position), '[]')
        FROM tracks, unnest(warnings) AS warning WHERE event_id = workflows.event_id)`.as('warnings'),
    );
}
