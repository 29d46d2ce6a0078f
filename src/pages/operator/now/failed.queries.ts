import { sql } from 'kysely';
import type { Queryable } from '#platform/database/kysely.ts';
import { reasonKey } from '#processing/reason-key.ts';

/** Failures are looked through from the newest on; of more, nobody tells them apart. */
export const MOST_FAILED = 500;

/** A recording whose latest workflow failed. */
export interface FailedRecording {
  eventId: string;
  title: string;
  workflowId: number;
  operation: string;
  failedAt: Date;
  /** A sentence. */
  reason: string;
  /** The end of what the tool said; may be empty. */
  log: string;
  attempts: number;
  seriesTitle: string;
  /** What came: tracks, bytes and, if known, milliseconds. */
  tracks: number;
  bytes: number;
  duration: number | null;
  requestId: string;
}

/** Recordings that failed for the same reason, the newest first. */
export interface FailureGroup {
  key: string;
  /** As it is said of the newest one. */
  reason: string;
  recordings: FailedRecording[];
}

/** What has failed and was not processed since, the newest first; `MOST_FAILED` at most. */
export async function failedRecordings(db: Queryable): Promise<FailedRecording[]> {
  const { rows } = await sql<FailedRecording>`
    WITH lately AS MATERIALIZED (
      SELECT id, event_id, finished_at, reason, request_id FROM workflows WHERE state = 'FAILED'
      ORDER BY finished_at DESC, id DESC LIMIT ${4 * MOST_FAILED}
    ), failed AS MATERIALIZED (
      SELECT lately.* FROM lately JOIN events e ON e.id = lately.event_id
      WHERE e.processing_state = 'FAILED'
        AND NOT EXISTS (SELECT FROM workflows later WHERE later.event_id = lately.event_id AND later.id > lately.id)
      ORDER BY lately.finished_at DESC, lately.id DESC LIMIT ${MOST_FAILED}
    )
    SELECT e.id AS "eventId", e.title, failed.id AS "workflowId", coalesce(o.operation, '') AS operation,
      coalesce(failed.finished_at, e.inserted_at) AS "failedAt", coalesce(failed.reason, o.reason, 'It has failed.') AS reason,
      coalesce(o.log, '') AS log, coalesce(o.attempts, 0) + 1 AS attempts, e.series_title AS "seriesTitle",
      sent.tracks, sent.bytes, e.duration, failed.request_id AS "requestId"
    FROM failed JOIN events e ON e.id = failed.event_id
    LEFT JOIN LATERAL (SELECT operation, reason, log, attempts FROM workflow_operations
      WHERE workflow_id = failed.id AND state = 'failed' ORDER BY position LIMIT 1) AS o ON true
    CROSS JOIN LATERAL (SELECT count(*) AS tracks, coalesce(sum(size), 0)::bigint AS bytes FROM tracks
      WHERE event_id = e.id) AS sent
    ORDER BY failed.finished_at DESC, failed.id DESC`.execute(db);
  return rows;
}

/** By reason; the group with the newest failure first. */
export function byReason(failed: readonly FailedRecording[]): FailureGroup[] {
  const groups = Map.groupBy(failed, ({ reason }) => reasonKey(reason));
  return [...groups].map(([key, recordings]) => ({ key, reason: recordings[0]?.reason ?? key, recordings }));
}
