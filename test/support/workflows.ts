import { randomUUID } from 'node:crypto';
import type { Database } from '#platform/database/kysely.ts';
import type { OutageWait } from '#platform/database/retry.ts';
import { parseDefinition } from '#processing/load-definitions.ts';
import { startWorkflow } from '#processing/start-workflow.ts';

/** Waits for no database. */
export const AT_ONCE: OutageWait = { signal: AbortSignal.abort(), onWait: () => undefined };

/** An event without tracks whose workflow has these operations (`noop` unless named). */
export async function startTestWorkflow(
  database: Database,
  operations: string[] = ['noop'],
  options: { retries?: number; timeLimit?: string; configuration?: Record<string, string>; optional?: boolean } = {},
): Promise<{ eventId: string; workflowId: number }> {
  const { retries = 0, timeLimit = '1m', configuration = {}, optional = false } = options;
  const definition = parseDefinition(
    'test.yaml',
    JSON.stringify({
      id: 'test',
      title: 'Test',
      operations: operations.map((operation) => ({ operation, retries, time_limit: timeLimit, optional })),
    }),
  );
  const eventId = randomUUID();
  const now = new Date();
  return database.transaction().execute(async (trx) => {
    await trx.insertInto('events').values({ id: eventId, creator: 'test', start_date: now, created: now }).execute();
    const workflowId = await startWorkflow(trx, {
      eventId,
      definition,
      configuration,
      creator: 'test',
      requestId: randomUUID(),
    });
    return { eventId, workflowId };
  });
}

export async function processingState(database: Database, eventId: string): Promise<string> {
  const row = await database
    .selectFrom('events')
    .select('processing_state')
    .where('id', '=', eventId)
    .executeTakeFirstOrThrow();
  return row.processing_state;
}

/** The operations of a workflow in order. */
export function operationsOf(database: Database, workflowId: number) {
  return database
    .selectFrom('workflow_operations')
    .selectAll()
    .where('workflow_id', '=', workflowId)
    .orderBy('position')
    .execute();
}

/** The operation that encodes an event's recording. The same operation before it only copies what browsers can play. */
export async function encodingOf(database: Database, eventId: string) {
  const operations = await operationsOfEvent(database, eventId);
  return operations.findLast(({ operation }) => operation === 'encode');
}

/** The operations of all workflows of an event, in order. */
export function operationsOfEvent(database: Database, eventId: string) {
  return database
    .selectFrom('workflow_operations')
    .innerJoin('workflows', 'workflows.id', 'workflow_id')
    .selectAll('workflow_operations')
    .where('event_id', '=', eventId)
    .orderBy('workflow_id')
    .orderBy('position')
    .execute();
}
