import { sql } from 'kysely';
import { requireAccess } from '#access/acl/acl.queries.ts';
import type { Principal } from '#access/principal.ts';
import type { Queryable } from '#platform/database/kysely.ts';
import { CUTTING } from '#platform/media/cutting.ts';
import type { WorkflowDefinitions } from '#processing/load-definitions.ts';
import type { WorkflowDefinition } from '#processing/workflow-definition.ts';
import { isActive } from '#processing/workflow-states.ts';
import { type EditorTrack, editorTracks } from '#publications/editor-files.ts';
import { BEING_PROCESSED, EVENT_GONE, NOT_WRITABLE, NOTHING_TO_PREVIEW } from './editing-refusals.ts';
import { type Segment, savedSegments } from './segments.ts';

const EDITOR_TAG = 'editor';

/** An event as an editor opens it. */
export interface EditableEvent {
  id: string;
  title: string;
  start: Date;
  series: { id: string | null; title: string };
  /** The whole recording, in milliseconds. */
  duration: number;
  segments: Segment[];
  tracks: EditorTrack[];
  captions: StoredCaptions[];
  workflows: EditorWorkflow[];
  isProcessed: boolean;
}

/** Captions or chapters that a client sent. */
export interface StoredCaptions {
  id: string;
  flavor: string;
  tags: string[];
  objectKey: string;
  size: number;
}

/** A workflow that an editor may start, or resume. */
export type EditorWorkflow = Pick<WorkflowDefinition, 'id' | 'title' | 'description' | 'display_order'>;

/** The active workflow of an event, as far as it decides whether people may edit. */
interface ActiveWorkflow {
  id: number;
  definition: string;
  /** True if it waits and none of its operations runs. */
  isWaiting: boolean;
  /** True if it will cut the recording when it is resumed. */
  cutsLater: boolean;
}

/** Requires write access as editors expect it. @throws {HttpError} 404 if the account may not read the event, or 403 */
export function requireEditor(db: Queryable, principal: Principal, eventId: string): Promise<void> {
  return requireAccess(db, 'events', principal, eventId, 'write', EVENT_GONE, NOT_WRITABLE);
}

/**
 * Loads an event for an editor.
 *
 * @throws {HttpError} 404 and 403 as `requireEditor`, 400 without anything to show, 423 while that is being made
 */
export async function openEvent(
  db: Queryable,
  { principal, definitions }: { principal: Principal; definitions: WorkflowDefinitions },
  eventId: string,
): Promise<EditableEvent> {
  await requireEditor(db, principal, eventId);
  const event = await db
    .selectFrom('events')
    .select(['title', 'start_date', 'series_id', 'series_title', 'processing_state'])
    .select(
      sql<string | null>`(SELECT content FROM event_documents WHERE event_id = events.id AND flavor = ${CUTTING})`.as(
        'catalog',
      ),
    )
    .where('id', '=', eventId)
    .executeTakeFirst();
  if (!event) throw EVENT_GONE(eventId);
  const tracks = await editorTracks(db, eventId);
  const active = isActive(event.processing_state) ? await activeWorkflow(db, eventId) : undefined;
  const isProcessed = active !== undefined && !active.isWaiting;
  if (tracks.every(({ media }) => media === null)) {
    throw isProcessed ? BEING_PROCESSED(eventId) : NOTHING_TO_PREVIEW(eventId);
  }
  const duration = Math.max(...tracks.map((track) => track.duration ?? 0));
  return {
    id: eventId,
    title: event.title,
    start: event.start_date,
    series: { id: event.series_id, title: event.series_title },
    duration,
    segments: savedSegments(event.catalog ?? undefined, duration),
    tracks,
    captions: await storedCaptions(db, eventId),
    workflows: editorWorkflows(definitions, active),
    isProcessed,
  };
}

/** Returns the workflow that an event has now. */
export function activeWorkflow(db: Queryable, eventId: string): Promise<ActiveWorkflow | undefined> {
  const hasOperation = (test: ReturnType<typeof sql>) =>
    sql<boolean>`EXISTS (SELECT FROM workflow_operations o WHERE o.workflow_id = workflows.id AND ${test})`;
  return db
    .selectFrom('workflows')
    .select(['id', 'definition'])
    .select(
      sql<boolean>`state = 'PAUSED' AND NOT ${hasOperation(sql`o.state IN ('running', 'divided')`)}`.as('isWaiting'),
    )
    .select(hasOperation(sql`o.operation = 'cut' AND o.state IN ('waiting', 'paused')`).as('cutsLater'))
    .where('event_id', '=', eventId)
    .where('state', 'in', ['INSTANTIATED', 'RUNNING', 'PAUSED', 'FAILING'])
    .executeTakeFirst();
}

async function storedCaptions(db: Queryable, eventId: string): Promise<StoredCaptions[]> {
  return db
    .selectFrom('tracks')
    .select(['id', 'flavor', 'tags', 'object_key as objectKey', 'size'])
    .where('event_id', '=', eventId)
    .where('is_media', '=', false)
    .where(sql<boolean>`split_part(flavor, '/', 1) IN ('captions', 'chapters')`)
    .orderBy('position')
    .execute();
}

/** Returns the workflows that an editor offers, the best one first: a waiting one that will cut, then those with the tag. */
export function editorWorkflows(
  definitions: WorkflowDefinitions,
  active: ActiveWorkflow | undefined,
): EditorWorkflow[] {
  const tagged = definitions
    .all()
    .filter(({ id, tags }) => tags.includes(EDITOR_TAG) && !(active?.cutsLater && id === active.definition))
    .sort((a, b) => b.display_order - a.display_order || a.title.localeCompare(b.title, 'en'));
  if (!active?.cutsLater || !definitions.knows(active.definition)) return tagged;
  const waiting = definitions.resolve(active.definition);
  return [{ ...waiting, display_order: Math.max(0, ...tagged.map((each) => each.display_order)) + 1 }, ...tagged];
}
