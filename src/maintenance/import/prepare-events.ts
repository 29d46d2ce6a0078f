import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { sql } from 'kysely';
import type { Database } from '#platform/database/kysely.ts';
import { inTransaction } from '#platform/database/retry.ts';
import type { WorkflowDefinitions } from '#processing/load-definitions.ts';
import { startWorkflow } from '#processing/start-workflow.ts';
import { ACTOR } from './import-services.ts';

/** The workflow that makes the renditions and previews of a recording and publishes them. */
const WORKFLOW = 'publish';
/** Speech is recognized only on request. */
const CONFIGURATION = { transcribe: 'false' };
const POLL_MS = 2_000;

interface PrepareOptions {
  database: Database;
  sourceId: number;
  definitions: WorkflowDefinitions;
  signal: AbortSignal;
  /** The number of workflows that run concurrently. */
  parallel: number;
  onProgress: (progress: { left: number; running: number }) => void;
}

/**
 * Makes the renditions and previews that a copied recording lacks, with the lowest priority: a workflow is started only
 * while no other operation waits for a worker. A recording whose workflow has failed is not tried again.
 *
 * @throws the signal's reason
 */
export async function prepareEvents(options: PrepareOptions): Promise<void> {
  const { database, sourceId, definitions, signal, parallel, onProgress } = options;
  const definition = definitions.resolve(WORKFLOW);
  for (;;) {
    const { waiting, running, next, left } = await findWork(database, sourceId);
    onProgress({ left, running });
    if (next === null && running === 0) return;
    if (next === null || waiting || running >= parallel) {
      await delay(POLL_MS, undefined, { signal });
      continue;
    }
    await inTransaction(database, (trx) =>
      startWorkflow(trx, {
        eventId: next,
        definition,
        configuration: CONFIGURATION,
        creator: ACTOR,
        requestId: randomUUID(),
      }),
    );
  }
}

interface Work {
  /** True if operations of other workflows wait for a worker. */
  waiting: boolean;
  /** The number of own workflows that have not finished. */
  running: number;
  /** The next event; null if there is none. */
  next: string | null;
  left: number;
}

/** A recording that is published without renditions that can be streamed, and was not prepared since it was copied. */
const LACKS_RENDITIONS = sql`events.processing_state = 'SUCCEEDED'
  AND EXISTS (SELECT FROM tracks WHERE tracks.event_id = events.id AND is_media)
  AND EXISTS (SELECT FROM publications AS p WHERE p.event_id = events.id)
  AND NOT EXISTS (SELECT FROM publication_elements AS e WHERE e.event_id = events.id AND e.properties ? 'headBytes')
  AND NOT EXISTS (SELECT FROM workflows AS w WHERE w.event_id = events.id AND w.creator = ${ACTOR}
    AND w.created_at > i.changed_at)`;

async function findWork(database: Database, sourceId: number): Promise<Work> {
  const { rows } = await sql<Work>`
    WITH lacking AS (
      SELECT events.id, events.start_date FROM import_items AS i JOIN events ON events.id = i.id
      WHERE i.source_id = ${sourceId} AND i.kind = 'event' AND i.state = 'copied' AND ${LACKS_RENDITIONS}
    ), own AS (
      SELECT id FROM workflows WHERE creator = ${ACTOR} AND state IN ('INSTANTIATED', 'RUNNING', 'PAUSED', 'FAILING')
    )
    SELECT EXISTS (SELECT FROM workflow_operations AS o WHERE o.state = 'ready' AND o.workflow_id NOT IN (SELECT id FROM own))
        AS waiting,
      (SELECT count(*)::integer FROM own) AS running, (SELECT count(*)::integer FROM lacking) AS left,
      (SELECT id FROM lacking ORDER BY start_date DESC, id LIMIT 1) AS next`.execute(database);
  const [work] = rows;
  if (!work) throw new Error('A query without a table has one row.');
  return work;
}
