import { sql } from 'kysely';
import type { Queryable } from '#platform/database/kysely.ts';

/** Larger numbers are not counted. */
export const MOST_COUNTED = 10_000;
/** The most failed recordings that are read. */
export const MOST_FAILED = 500;

/** The first entries of a list. */
export interface WorkList<T> {
  /** The number of all entries. Queued and paused recordings are counted up to `MOST_COUNTED + 1`. */
  count: number;
  entries: readonly T[];
}

function workList<T>(rows: readonly (T & { count: number })[]): WorkList<T> {
  return { count: rows[0]?.count ?? 0, entries: rows };
}

/** An operation in the latest workflow of a recording. */
interface Work {
  eventId: string;
  title: string;
  workflowId: number;
  operation: string;
}

/** An operation that a worker runs. */
export interface RunningOperation extends Work {
  /** From 0 to 1. */
  progress: number;
  worker: string;
  /** The start of the current attempt. */
  since: Date;
  attempt: number;
  /** The state of the workflow: while it is paused, a running operation still finishes. */
  state: string;
}

/** Reads running operations, the oldest first. */
export async function runningOperations(db: Queryable, limit: number): Promise<WorkList<RunningOperation>> {
  const { rows } = await sql<RunningOperation & { count: number }>`
    SELECT count(*) OVER () AS count, w.event_id AS "eventId", e.title, w.id AS "workflowId",
      o.operation || coalesce(', piece ' || (o.position + 1) || ' of ' || (SELECT count(*) FROM workflow_operations piece
        WHERE piece.parent_id = parent.id), '') AS operation, coalesce(parent.progress, o.progress) AS progress,
      coalesce(o.worker, '') AS worker, coalesce(o.claimed_at, o.heartbeat_at) AS since, o.attempts + 1 AS attempt, w.state
    FROM workflow_operations o JOIN workflows w ON w.id = o.workflow_id JOIN events e ON e.id = w.event_id
      LEFT JOIN workflow_operations parent ON parent.id = o.parent_id
    WHERE o.state = 'running' ORDER BY since, o.id LIMIT ${limit}`.execute(db);
  return workList(rows);
}

/** A recording that waits for a worker, for its next attempt, or for a person. */
export interface WaitingRecording extends Work {
  since: Date;
  /** The time of the next attempt; null if it can start now. */
  notBefore: Date | null;
  /** The reason of the last failure. */
  reason: string | null;
}

/** Reads recordings that wait for a worker, in the order in which they can start. */
export async function queuedRecordings(db: Queryable, limit: number): Promise<WorkList<WaitingRecording>> {
  const { rows } = await sql<WaitingRecording & { count: number }>`
    WITH ready AS MATERIALIZED (
      SELECT o.id, o.workflow_id, o.operation, o.not_before, o.reason, coalesce(parent.position, o.position) AS position
      FROM workflow_operations o LEFT JOIN workflow_operations parent ON parent.id = o.parent_id
      WHERE o.state = 'ready' AND (o.parent_id IS NULL OR NOT EXISTS (SELECT FROM workflow_operations other
        WHERE other.parent_id = o.parent_id AND (other.state = 'running'
          OR (other.state = 'ready' AND other.position < o.position)))) LIMIT ${MOST_COUNTED + 1}
    ), first AS (
      SELECT *, (SELECT count(*) FROM ready) AS count FROM ready
      ORDER BY greatest(not_before, '-infinity'), id LIMIT ${limit}
    )
    SELECT first.count, w.event_id AS "eventId", e.title, w.id AS "workflowId", first.operation, first.reason,
      CASE WHEN first.not_before > now() THEN first.not_before END AS "notBefore",
      coalesce((SELECT max(before.finished_at) FROM workflow_operations before
        WHERE before.workflow_id = w.id AND before.parent_id IS NULL AND before.position < first.position), w.created_at) AS since
    FROM first JOIN workflows w ON w.id = first.workflow_id JOIN events e ON e.id = w.event_id
    ORDER BY since, first.id`.execute(db);
  return workList(rows);
}

/** Reads recordings whose workflow is paused, the longest first. */
export async function pausedRecordings(db: Queryable, limit: number): Promise<WorkList<WaitingRecording>> {
  const { rows } = await sql<WaitingRecording & { count: number }>`
    WITH paused AS MATERIALIZED (
      SELECT id, event_id, created_at FROM workflows WHERE state = 'PAUSED'
      ORDER BY state, created_at, id LIMIT ${MOST_COUNTED + 1}
    ), first AS (
      SELECT *, (SELECT count(*) FROM paused) AS count FROM paused ORDER BY created_at, id LIMIT ${limit}
    )
    SELECT first.count, first.event_id AS "eventId", e.title, first.id AS "workflowId",
      coalesce(o.description, o.operation, '') AS operation, NULL AS reason, NULL AS "notBefore",
      coalesce((SELECT max(before.finished_at) FROM workflow_operations before WHERE before.workflow_id = first.id
        AND before.state = 'succeeded'), first.created_at) AS since
    FROM first JOIN events e ON e.id = first.event_id
    LEFT JOIN workflow_operations o ON o.workflow_id = first.id AND o.parent_id IS NULL
      AND o.state IN ('paused', 'divided')
    ORDER BY since, first.id`.execute(db);
  return workList(rows);
}

/** A recording whose latest workflow failed. */
export interface FailedRecording extends Work {
  failedAt: Date;
  reason: string;
  /** The last output of the tool. May be empty. */
  log: string;
  attempts: number;
  seriesTitle: string;
  tracks: number;
  bytes: number;
  /** In milliseconds. */
  duration: number | null;
}

/** Reads the newest recordings, at most `MOST_FAILED`, that failed and were not processed again. */
export async function failedRecordings(db: Queryable): Promise<FailedRecording[]> {
  const { rows } = await sql<FailedRecording>`
    WITH lately AS MATERIALIZED (
      SELECT id, event_id, finished_at, reason FROM workflows WHERE state = 'FAILED'
      ORDER BY finished_at DESC, id DESC LIMIT ${4 * MOST_FAILED}
    ), failed AS MATERIALIZED (
      SELECT lately.* FROM lately JOIN events e ON e.id = lately.event_id
      WHERE e.processing_state = 'FAILED'
        AND NOT EXISTS (SELECT FROM workflows later WHERE later.event_id = lately.event_id AND later.id > lately.id)
      ORDER BY lately.finished_at DESC, lately.id DESC LIMIT ${MOST_FAILED}
    )
    SELECT e.id AS "eventId", e.title, failed.id AS "workflowId", coalesce(o.operation, '') AS operation,
      coalesce(failed.finished_at, e.inserted_at) AS "failedAt", coalesce(failed.reason, o.reason, 'Failed.') AS reason,
      coalesce(o.log, '') AS log, coalesce(o.attempts, 0) + 1 AS attempts, e.series_title AS "seriesTitle",
      sent.tracks, sent.bytes, e.duration
    FROM failed JOIN events e ON e.id = failed.event_id
    LEFT JOIN LATERAL (SELECT operation, reason, log, attempts FROM workflow_operations
      WHERE workflow_id = failed.id AND state = 'failed' ORDER BY position LIMIT 1) AS o ON true
    CROSS JOIN LATERAL (SELECT count(*) AS tracks, coalesce(sum(size), 0)::bigint AS bytes FROM tracks
      WHERE event_id = e.id) AS sent
    ORDER BY failed.finished_at DESC, failed.id DESC`.execute(db);
  return rows;
}

/** The work of a lane. */
export interface LaneLoad {
  lane: string;
  /** Operations that can start; `MOST_COUNTED + 1` for more. */
  ready: number;
  running: number;
  /** The time since which the first ready operation waits. */
  oldest: Date | null;
}

/** Reads the work of lanes. */
export async function laneLoads(db: Queryable, lanes: readonly string[]): Promise<LaneLoad[]> {
  const { rows } = await sql<LaneLoad>`
    SELECT given.lane, waiting.count AS ready, waiting.oldest,
      (SELECT count(*) FROM workflow_operations o WHERE o.state = 'running' AND o.lane = given.lane) AS running
    FROM unnest(${lanes}::text[]) WITH ORDINALITY AS given (lane, place) CROSS JOIN LATERAL (
      SELECT count(*) AS count, min(w.created_at) AS oldest FROM (
        SELECT workflow_id FROM workflow_operations o WHERE o.state = 'ready' AND o.lane = given.lane LIMIT ${MOST_COUNTED + 1}
      ) AS ready JOIN workflows w ON w.id = ready.workflow_id
    ) AS waiting ORDER BY place`.execute(db);
  return rows;
}
