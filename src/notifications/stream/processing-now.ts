import type { Database } from '#platform/database/kysely.ts';

/** How the processing of an event is at this moment, as a message of a stream; undefined for one without a workflow. */
export async function processingNow(
  database: Database,
  eventId: string,
): Promise<{ kind: 'workflow.state'; data: object } | undefined> {
  const workflow = await database
    .selectFrom('workflows as w')
    .leftJoin('workflow_operations as o', (join) =>
      join.onRef('o.workflow_id', '=', 'w.id').on('o.state', 'in', ['ready', 'running', 'paused', 'failed']),
    )
    .select(['w.id', 'w.definition', 'w.state', 'w.reason', 'o.operation', 'o.progress'])
    .where('w.event_id', '=', eventId)
    .orderBy('w.id', 'desc')
    .orderBy('o.position', 'desc')
    .limit(1)
    .executeTakeFirst();
  if (!workflow) return undefined;
  const { id, definition, state, reason, operation, progress } = workflow;
  const data = {
    event: eventId,
    workflow: id,
    state,
    definition,
    ...(operation !== null && { operation, progress }),
    ...(reason !== null && { reason }),
    at: new Date().toISOString(),
  };
  return { kind: 'workflow.state', data };
}
