import { sql } from 'kysely';
import { isStale } from '#platform/database/database-watch.ts';
import type { Database } from '#platform/database/kysely.ts';
import { PREPARED } from '#platform/database/prepared.ts';
import type { TraceParent } from '#platform/telemetry/tracing.ts';
import { isPaused } from './lane-settings.ts';

/** The approximate number of queued deliveries per lane. Further operations wait in the table, which costs nothing. */
const WINDOW = 200;
/** A window is refilled when this part of it is empty. Not a larger part: concurrent deliveries have no order. */
const REFILLED = 8;
/** The least space in a lane that is refilled: fewer deliveries than this are all that were due. */
export const LEAST_ROOM = Math.floor(WINDOW / REFILLED);
const ASSIGNED_AT_ONCE = 1000;

export interface ReadyOperation {
  operationId: number;
  operation: string;
  /** The settings from the workflow definition. */
  configuration: Readonly<Record<string, string>>;
}

/** A delivery of an operation to the queue. */
export interface Delivery extends Omit<ReadyOperation, 'configuration'> {
  lane: string;
  /** Counts the deliveries of this operation; makes the job's identifier unique. */
  delivery: number;
  /** The trace in which its workflow was started, if any. */
  traceparent: TraceParent | null;
}

/** Reports whether any operation may need a lane, a delivery, or a check because it is overdue. */
export async function isAnythingDue(database: Database, overdueMs: number): Promise<boolean> {
  const { rows } = await sql<{ due: boolean }>`
    ${PREPARED} SELECT EXISTS (SELECT FROM workflow_operations WHERE state = 'ready' AND (lane IS NULL
      OR (delivered_at IS NULL AND not_before <= now())
      OR ${isOverdue(overdueMs)})) AS due`.execute(database);
  return rows[0]?.due ?? true;
}

/** Chooses once for each ready operation its lane of the queue. */
export async function assignLanes(
  database: Database,
  choose: (operations: readonly ReadyOperation[]) => Promise<ReadonlyMap<number, string>>,
): Promise<void> {
  for (;;) {
    const { rows } = await sql<ReadyOperation>`
      SELECT id AS "operationId", operation, configuration FROM workflow_operations
      WHERE state = 'ready' AND lane IS NULL LIMIT ${ASSIGNED_AT_ONCE}`.execute(database);
    if (rows.length === 0) return;
    const lanes = await choose(rows);
    await sql`
      UPDATE workflow_operations o SET lane = given.lane
      FROM unnest(${[...lanes.keys()]}::bigint[], ${[...lanes.values()]}::text[]) AS given (id, lane)
      WHERE o.id = given.id AND o.lane IS NULL`.execute(database);
    if (rows.length < ASSIGNED_AT_ONCE) return;
  }
}

/** Takes ready operations that are not in the queue, the oldest first, as far as their lanes have space. */
export async function takeDeliveries(
  database: Database,
  lanes: readonly string[],
  window = WINDOW,
): Promise<Delivery[]> {
  await returnToPlaces(database, lanes);
  const { rows } = await sql<Delivery & { place: number }>`
    WITH filled AS (
      SELECT lane, (SELECT count(*) FROM workflow_operations o
        WHERE o.state = 'ready' AND o.delivered_at IS NOT NULL AND o.lane = given.lane) AS jobs
      FROM unnest(${lanes}::text[]) AS given (lane) WHERE NOT ${isPaused(sql.ref('given.lane'))}
    ), rooms AS (
      SELECT lane, ${window} - jobs AS room FROM filled WHERE jobs <= ${window - Math.floor(window / REFILLED)}
    ), due AS (
      SELECT next.id, row_number() OVER (ORDER BY next.not_before, next.id) AS place
      FROM rooms CROSS JOIN LATERAL (
        SELECT id, not_before FROM workflow_operations o
        WHERE state = 'ready' AND delivered_at IS NULL AND o.lane = rooms.lane AND not_before <= now()
        ORDER BY not_before, id LIMIT rooms.room
        FOR UPDATE SKIP LOCKED
      ) next
    )
    UPDATE workflow_operations o SET delivered_at = now(), deliveries = o.deliveries + 1
    FROM due, workflows w WHERE o.id = due.id AND w.id = o.workflow_id
    RETURNING o.id AS "operationId", o.operation, o.lane, o.deliveries AS delivery, w.traceparent, due.place`.execute(
    database,
  );
  return rows.sort((a, b) => a.place - b.place).map(({ place: _, ...delivery }) => delivery);
}

/**
 * Gives postponed operations that are due their earlier places: otherwise they would wait behind later ones. Pieces keep
 * theirs, by which recordings take turns.
 */
async function returnToPlaces(database: Database, lanes: readonly string[]): Promise<void> {
  await sql`
    UPDATE workflow_operations o SET ready_at = greatest(o.ready_at, o.not_before), not_before = '-infinity'
    FROM (
      SELECT id FROM workflow_operations
      WHERE state = 'ready' AND delivered_at IS NULL AND lane = ANY(${lanes}::text[]) AND parent_id IS NULL
        AND not_before > '-infinity' AND not_before <= now()
      FOR UPDATE SKIP LOCKED
    ) due
    WHERE o.id = due.id`.execute(database);
}

/** Takes deliveries that no worker has claimed for so long. No other process checks them for as long again. */
export async function takeOverdue(database: Database, afterMs: number): Promise<Delivery[]> {
  const { rows } = await sql<Delivery>`
    UPDATE workflow_operations o SET delivered_at = now()
    FROM (
      SELECT id FROM workflow_operations
      WHERE state = 'ready' AND ${isOverdue(afterMs)}
      FOR UPDATE SKIP LOCKED
    ) overdue, workflows w
    WHERE o.id = overdue.id AND w.id = o.workflow_id
    RETURNING o.id AS "operationId", o.operation, o.lane, o.deliveries AS delivery, w.traceparent`.execute(database);
  return rows;
}

function isOverdue(afterMs: number) {
  return isStale(sql.ref('delivered_at'), afterMs / 1000);
}

/**
 * Resets deliveries that were not claimed or repeated since. Those that the queue refused or lost are `due` again
 * immediately; those whose state could not be determined are `overdue` again.
 */
export async function resetDeliveries(
  database: Database,
  deliveries: readonly Delivery[],
  to: 'due' | 'overdue',
): Promise<void> {
  if (deliveries.length === 0) return;
  await sql`
    UPDATE workflow_operations o SET delivered_at = ${to === 'due' ? null : '-infinity'}::timestamptz
    FROM unnest(${deliveries.map(({ operationId }) => operationId)}::bigint[],
      ${deliveries.map(({ delivery }) => delivery)}::integer[]) AS given (id, delivery)
    WHERE o.id = given.id AND o.deliveries = given.delivery AND o.state = 'ready' AND o.delivered_at IS NOT NULL`.execute(
    database,
  );
}
