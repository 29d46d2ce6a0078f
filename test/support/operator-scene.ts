import { randomUUID } from 'node:crypto';
import { type Kysely, sql } from 'kysely';
import type { Database } from '#platform/database/kysely.ts';
import type { DB } from '#platform/database/schema.ts';
import { advance } from '#processing/advance-workflow.ts';
import { loadDefinitions } from '#processing/load-definitions.ts';
import { type Claim, claimOperation, endClaim, heartbeat } from '#processing/operation-claims.ts';
import { startWorkflow } from '#processing/start-workflow.ts';
import type { Ending } from '#processing/workflow-change.ts';
import { insertPublication } from './publication.ts';
import { withoutIndexes } from './without-indexes.ts';
import { AT_ONCE, operationsOf } from './workflows.ts';

/** Why recordings of the scene fail, and how many do. */
export const REASONS = [
  ['The file is damaged: it breaks off after 12.5 seconds.', 4],
  ['The file holds neither pictures nor sound that can be read.', 2],
  ['It took longer than the 24 hours allowed.', 1],
] as const;

export const TOOL_LOG = 'moov atom not found\nInvalid data found when processing input';

/** A recording with a track, whose usual workflow has begun. */
export async function startRecording(
  database: Database,
  title: string,
  configuration: Record<string, string> = {},
): Promise<{ eventId: string; workflowId: number }> {
  const definitions = await loadDefinitions(undefined);
  const eventId = randomUUID();
  const now = new Date();
  return database.transaction().execute(async (trx) => {
    await trx
      .insertInto('events')
      .values({
        ...{ id: eventId, title, creator: 'Ada L.', start_date: now, created: now },
        ...{ presenters: ['Emmy N.'], duration: 5_400_000 },
      })
      .execute();
    await trx
      .insertInto('tracks')
      .values({
        ...{ id: randomUUID(), event_id: eventId, position: 0 },
        ...{ flavor: 'presenter/source', filename: 'camera.mp4' },
        ...{ mediatype: 'video/mp4', object_key: randomUUID(), size: 2_345_678_901, duration: 5_400_000 },
        streams: sql`${JSON.stringify([{ type: 'video', codec: 'h264', width: 1920, height: 1080, frameRate: 25 }])}::jsonb`,
      })
      .execute();
    const workflowId = await startWorkflow(trx, {
      ...{ eventId, configuration, creator: 'ada', requestId: `request-${title.replaceAll(/\W+/g, '-')}` },
      definition: definitions.resolve(''),
    });
    return { eventId, workflowId };
  });
}

/** Takes what is ready of a workflow. */
export async function claimReady(database: Database, workflowId: number): Promise<Claim> {
  const ready = (await operationsOf(database, workflowId)).find(({ state }) => state === 'ready');
  const claim = await claimOperation(database, ready?.id ?? 0, 'worker-hall-17-a1b2c3d4', AT_ONCE);
  if (!claim) throw new Error('Nothing was ready.');
  return claim;
}

export async function endOperation(database: Database, claim: Claim, reason?: string): Promise<void> {
  const { operationId, token } = claim;
  const change: Ending =
    reason === undefined
      ? { kind: 'succeeded', operationId, token }
      : { kind: 'failed', operationId, token, reason, log: TOOL_LOG };
  await endClaim(database, claim, change, AT_ONCE);
}

/**
 * A system at work: recordings that failed for three reasons, and others that are processed, wait for a worker or a
 * person, are stopped or published.
 */
export async function operatorScene(database: Database) {
  const failed: { eventId: string; workflowId: number }[] = [];
  for (const [reason, count] of REASONS) {
    for (let i = 0; i < count; i += 1) {
      const recording = await startRecording(database, `Broken lecture ${failed.length + 1}`);
      await endOperation(database, await claimReady(database, recording.workflowId), reason);
      failed.push(recording);
    }
  }
  const running = await startRecording(database, 'Analysis I, lecture 12');
  await endOperation(database, await claimReady(database, running.workflowId));
  await endOperation(database, await claimReady(database, running.workflowId));
  const claim = await claimReady(database, running.workflowId);
  await heartbeat(database, claim, 0.37);
  for (let i = 1; i <= 3; i += 1) await startRecording(database, `Waiting lecture ${i}`);
  const paused = await startRecording(database, 'Lecture under review', { flagForReview: 'true' });
  while ((await operationsOf(database, paused.workflowId)).some(({ state }) => state === 'ready'))
    await endOperation(database, await claimReady(database, paused.workflowId));
  const stopped = await startRecording(database, 'Stopped lecture');
  await database.transaction().execute((trx) => advance(trx, stopped.workflowId, { kind: 'stopped', by: 'admin' }));
  const published = await startRecording(database, 'Published lecture');
  await insertPublication(database, published.eventId);
  return { failed, running, claim, paused };
}

/** Recordings that have been processed, over the last weeks. */
export async function insertFinished(database: Database, count: number): Promise<void> {
  const fill = async (on: Kysely<DB>) => {
    await sql`INSERT INTO events (id, title, start_date, created, creator, processing_state, duration, inserted_at)
      SELECT 'done-' || i, 'Lecture ' || i, at, at, 'Ada L.', 'SUCCEEDED', 5400000, at
      FROM generate_series(1, ${count}::integer) AS i, LATERAL (SELECT now() - i * interval '30 seconds' AS at) AS t`.execute(
      on,
    );
    await sql`INSERT INTO workflows (event_id, definition, title, configuration, state, creator, request_id, created_at,
        finished_at)
      SELECT id, 'schedule-and-upload', 'Process', '{}', 'SUCCEEDED', 'ada', 'request-' || id, created,
        created + interval '20 minutes' FROM events WHERE id LIKE 'done-%'`.execute(on);
    await sql`INSERT INTO workflow_operations (workflow_id, position, operation, state, max_attempts, time_limit_ms,
        progress, claimed_at, started_at, finished_at, worker)
      SELECT id, position, operation, 'succeeded', 9, 3600000, 1, created_at, created_at, finished_at, 'worker-1'
      FROM workflows, unnest(ARRAY['inspect', 'cut', 'encode', 'preview', 'publish']) WITH ORDINALITY AS o (operation, position)
      WHERE definition = 'schedule-and-upload' AND state = 'SUCCEEDED'`.execute(on);
  };
  await database
    .connection()
    .execute((on) => withoutIndexes(on, ['events', 'workflows', 'workflow_operations'], () => fill(on)));
  await sql`VACUUM ANALYZE events, workflows, workflow_operations`.execute(database);
}
