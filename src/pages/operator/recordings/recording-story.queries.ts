import { sql } from 'kysely';
import type { Change } from '#changes/change.ts';
import { readLastChangesOfEvent } from '#changes/read-changes.ts';
import { lockHolder } from '#editing/editor-locks.ts';
import type { Queryable } from '#platform/database/kysely.ts';
import { publicationsOfEvents } from '#publications/publication.queries.ts';
import type { Publication, PublicationElement } from '#publications/publication.ts';
import { allViews } from '#statistics/views/time-series.queries.ts';

const MOST_CHANGES = 300;
const MOST_WORKFLOWS = 20;

/** An attempt of an operation. */
export interface Attempt {
  outcome: string;
  /** The number of consecutive attempts with this outcome. */
  times: number;
  worker: string | null;
  reason: string | null;
  start: Date;
  end: Date;
}

export interface OperationStory {
  id: number;
  operation: string;
  description: string;
  state: string;
  reason: string | null;
  log: string | null;
  onFailure: boolean;
  /** The pieces of the operation, while it has any. */
  pieces: { total: number; done: number; workers: string[] } | null;
  attempts: Attempt[];
}

export interface WorkflowStory {
  id: number;
  title: string;
  state: string;
  creator: string;
  requestId: string;
  start: Date;
  end: Date | null;
  reason: string | null;
  operations: OperationStory[];
}

/** Everything about a recording. `event` is undefined if it has been deleted. */
export interface RecordingStory {
  event: Awaited<ReturnType<typeof eventFacts>>;
  lock: Awaited<ReturnType<typeof lockHolder>>;
  tracks: Awaited<ReturnType<typeof tracksOf>>;
  workflows: WorkflowStory[];
  publications: Publication[];
  changes: Change[];
}

/** Reads everything about a recording. */
export async function recordingStory(db: Queryable, id: string): Promise<RecordingStory> {
  const [event, lock, tracks, workflows, publications, changes] = await Promise.all([
    eventFacts(db, id),
    lockHolder(db, id),
    tracksOf(db, id),
    workflowsOf(db, id),
    publicationsOfEvents(db, [id]),
    readLastChangesOfEvent(db, id, MOST_CHANGES),
  ]);
  return { event, lock, tracks, workflows, publications: publications.get(id) ?? [], changes };
}

function eventFacts(db: Queryable, id: string) {
  return db
    .selectFrom('events')
    .select(['id', 'title', 'series_id', 'series_title', 'presenters', 'creator', 'start_date'])
    .select(['duration', 'processing_state', 'status', 'agent_id', 'recording_state', 'inserted_at'])
    .select(allViews.as('views'))
    .where('id', '=', id)
    .executeTakeFirst();
}

function tracksOf(db: Queryable, id: string) {
  return db
    .selectFrom('tracks')
    .select(['flavor', 'filename', 'mediatype', 'size', 'duration'])
    .select(['streams', 'warnings', 'tags', 'is_media'])
    .where('event_id', '=', id)
    .orderBy('position')
    .execute();
}

async function workflowsOf(db: Queryable, id: string): Promise<WorkflowStory[]> {
  const { rows } = await sql<WorkflowRow>`
    SELECT w.id, w.title, w.state, w.creator, w.request_id AS "requestId", w.created_at AS start,
      w.finished_at AS "end", w.reason,
      (SELECT coalesce(jsonb_agg(jsonb_build_object('id', o.id, 'operation', o.operation, 'description', o.description,
          'state', CASE o.state WHEN 'divided' THEN 'running' ELSE o.state END, 'reason', o.reason, 'log', o.log, 'onFailure', o.on_failure,
          'worker', o.worker, 'start', o.claimed_at, 'end', o.finished_at,
          'pieces', (SELECT CASE WHEN count(*) > 0 THEN jsonb_build_object('total', count(*),
              'done', count(*) FILTER (WHERE p.state = 'succeeded'),
              'workers', coalesce(jsonb_agg(p.worker ORDER BY p.worker) FILTER (WHERE p.state = 'running'), '[]')) END
            FROM workflow_operations p WHERE p.parent_id = o.id),
          'past', (SELECT coalesce(jsonb_agg(jsonb_build_object('outcome', a.outcome, 'times', a.times,
              'worker', a.worker, 'reason', a.reason, 'start', a.started_at, 'end', a.ended_at) ORDER BY a.id), '[]')
            FROM workflow_attempts a WHERE a.operation_id = o.id)) ORDER BY o.position), '[]')
        FROM workflow_operations o WHERE o.workflow_id = w.id AND o.parent_id IS NULL) AS operations
    FROM workflows w WHERE w.event_id = ${id} ORDER BY w.id DESC LIMIT ${MOST_WORKFLOWS}`.execute(db);
  return rows.map(({ operations, ...workflow }) => ({ ...workflow, operations: operations.map(operationOf) }));
}

/** Times in JSON are strings. */
interface AttemptRow extends Omit<Attempt, 'start' | 'end'> {
  start: string;
  end: string;
}

interface OperationRow extends Omit<OperationStory, 'attempts'> {
  worker: string | null;
  start: string | null;
  end: string | null;
  past: AttemptRow[];
}

interface WorkflowRow extends Omit<WorkflowStory, 'operations'> {
  operations: OperationRow[];
}

function operationOf({ past, worker, start, end, ...operation }: OperationRow): OperationStory {
  const attempts = past.map((each) => ({ ...each, start: new Date(each.start), end: new Date(each.end) }));
  const { state } = operation;
  if (start !== null && (state === 'running' || (state === 'succeeded' && end !== null))) {
    const times = { start: new Date(start), end: end === null ? new Date() : new Date(end) };
    attempts.push({ outcome: state, times: 1, worker, reason: null, ...times });
  }
  return { ...operation, attempts };
}

/** Returns the published pictures of a recording. */
export function picturesOf(publications: readonly Publication[]): PublicationElement[] {
  return publications.flatMap(({ elements }) =>
    elements.filter(({ kind, mediatype }) => kind === 'attachment' && mediatype.startsWith('image/')),
  );
}
