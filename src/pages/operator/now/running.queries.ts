import { sql } from 'kysely';
import type { Queryable } from '#platform/database/kysely.ts';

/** An operation that a worker is at. */
export interface RunningOperation {
  eventId: string;
  title: string;
  workflowId: number;
  operation: string;
  /** From 0 to 1. */
  progress: number;
  worker: string;
  /** Of the present attempt. */
  since: Date;
  attempt: number;
  /** The state of the workflow: one that is paused still ends what is under way. */
  state: string;
}

/** Operations under way, the longest first. @param most how many to tell of one by one */
export async function runningOperations(
  db: Queryable,
  most: number,
): Promise<{ count: number; operations: RunningOperation[] }> {
  const { rows } = await sql<RunningOperation & { count: number }>`
    SELECT count(*) OVER () AS count, w.event_id AS "eventId", e.title, w.id AS "workflowId", o.operation, o.progress,
      coalesce(o.worker, '') AS worker, coalesce(o.claimed_at, o.heartbeat_at) AS since, o.attempts + 1 AS attempt, w.state
    FROM workflow_operations o JOIN workflows w ON w.id = o.workflow_id JOIN events e ON e.id = w.event_id
    WHERE o.state = 'running' ORDER BY since, o.id LIMIT ${most}`.execute(db);
  return { count: rows[0]?.count ?? 0, operations: rows.map(({ count, ...operation }) => operation) };
}

/** A recording that waits: for a worker, for its next attempt, or for somebody. */
export interface WaitingRecording {
  eventId: string;
  title: string;
  workflowId: number;
  operation: string;
  since: Date;
  /** When it is tried again; null when it could begin. */
  notBefore: Date | null;
  /** Why it is tried again. */
  reason: string | null;
}

/** Counts go no further: who has more waiting knows enough. */
export const MOST_COUNTED = 10_000;

/** What waits for a worker, what will be ready first, first. */
export async function waitingRecordings(
  db: Queryable,
  most: number,
): Promise<{ count: number; recordings: WaitingRecording[] }> {
  const { rows } = await sql<WaitingRecording & { count: number }>`
    WITH ready AS MATERIALIZED (
      SELECT o.id, o.workflow_id, o.operation, o.not_before, o.reason, o.position FROM workflow_operations o
      WHERE o.state = 'ready' LIMIT ${MOST_COUNTED + 1}
    ), first AS (
      SELECT *, (SELECT count(*) FROM ready) AS count FROM ready
      ORDER BY greatest(not_before, '-infinity'), id LIMIT ${most}
    )
    SELECT first.count, w.event_id AS "eventId", e.title, w.id AS "workflowId", first.operation, first.reason,
      CASE WHEN first.not_before > now() THEN first.not_before END AS "notBefore",
      coalesce((SELECT max(before.finished_at) FROM workflow_operations before
        WHERE before.workflow_id = w.id AND before.position < first.position), w.created_at) AS since
    FROM first JOIN workflows w ON w.id = first.workflow_id JOIN events e ON e.id = w.event_id
    ORDER BY since, first.id`.execute(db);
  return { count: rows[0]?.count ?? 0, recordings: rows.map(({ count, ...recording }) => recording) };
}

/** What waits for somebody, the longest first. */
export async function pausedRecordings(
  db: Queryable,
  most: number,
): Promise<{ count: number; recordings: WaitingRecording[] }> {
  const { rows } = await sql<WaitingRecording & { count: number }>`
    WITH paused AS MATERIALIZED (
      SELECT id, event_id, created_at FROM workflows WHERE state = 'PAUSED'
      ORDER BY state, created_at, id LIMIT ${MOST_COUNTED + 1}
    ), first AS (
      SELECT *, (SELECT count(*) FROM paused) AS count FROM paused ORDER BY created_at, id LIMIT ${most}
    )
    SELECT first.count, first.event_id AS "eventId", e.title, first.id AS "workflowId",
      coalesce(o.description, o.operation, '') AS operation, NULL AS reason, NULL AS "notBefore",
      coalesce((SELECT max(before.finished_at) FROM workflow_operations before WHERE before.workflow_id = first.id
        AND before.state = 'succeeded'), first.created_at) AS since
    FROM first JOIN events e ON e.id = first.event_id
    LEFT JOIN workflow_operations o ON o.workflow_id = first.id AND o.state = 'paused'
    ORDER BY since, first.id`.execute(db);
  return { count: rows[0]?.count ?? 0, recordings: rows.map(({ count, ...recording }) => recording) };
}
