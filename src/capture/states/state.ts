import { type AliasableExpression, type Expression, type Selectable, type SqlBool, sql } from 'kysely';
import type { Queryable } from '#platform/database/kysely.ts';
import type { Event } from '#platform/database/schema.ts';
import { assertMove } from '#processing/states.ts';

/** How far a recording is, as its agent tells it; empty until something is known of it. */
export type RecordingState =
  | ''
  | 'capturing'
  | 'capture_finished'
  | 'capture_error'
  | 'manifest'
  | 'manifest_finished'
  | 'manifest_error'
  | 'compressing'
  | 'compressing_error'
  | 'uploading'
  | 'upload_finished'
  | 'upload_error';

const UPLOADING = ['uploading', 'upload_finished', 'upload_error'] as const;
const COMPRESSING = ['compressing', 'compressing_error', ...UPLOADING] as const;
const MANIFEST = ['manifest', 'manifest_finished', 'manifest_error', ...COMPRESSING] as const;
const CAPTURING = ['capturing', 'capture_finished', 'capture_error', ...MANIFEST] as const;
/** What failed may be put off, be done again, or come after all. */
const AFTER_FAILURE = ['', ...CAPTURING] as const;

/**
 * Every legal move of a recording; there are no others. Agents skip what they do not do, and none of them goes back: one
 * that records a second time changes nothing of what is known.
 */
export const RECORDING_MOVES: Readonly<Record<RecordingState, readonly RecordingState[]>> = {
  '': CAPTURING,
  capturing: ['capture_finished', 'capture_error', ...MANIFEST],
  capture_finished: MANIFEST,
  manifest: ['manifest_finished', 'manifest_error', ...COMPRESSING],
  manifest_finished: COMPRESSING,
  compressing: ['compressing_error', ...UPLOADING],
  uploading: ['upload_finished', 'upload_error'],
  upload_finished: [],
  capture_error: AFTER_FAILURE,
  manifest_error: AFTER_FAILURE,
  compressing_error: AFTER_FAILURE,
  upload_error: AFTER_FAILURE,
};

/** What happened to a recording. Every change of its state goes through `stateAfter()` with one of these. */
export type RecordingChange =
  /** It is to take place at another time or by another agent: what was known of it is forgotten. */
  | { kind: 'moved' }
  /** Its tracks are there. */
  | { kind: 'recorded' }
  /** Its agent says how far it is. */
  | { kind: 'reported'; state: Exclude<RecordingState, ''> };

/**
 * The state of a recording after a change; what is known already may be said again.
 *
 * @throws {IllegalMove} when the state does not allow the change
 */
export function stateAfter(from: RecordingState, change: RecordingChange): RecordingState {
  const to = targetOf(change);
  if (from !== to) assertMove(RECORDING_MOVES, from, to);
  return to;
}

function targetOf(change: RecordingChange): RecordingState {
  switch (change.kind) {
    case 'moved':
      return '';
    case 'recorded':
      return 'upload_finished';
    case 'reported':
      return change.state;
  }
}

/** How far the recording of an event is, for whoever wants to change the event. */
export type RecordingProgress =
  /** It was never scheduled. */
  | 'unscheduled'
  /** It is still to come. One that failed or was missed may still come. */
  | 'awaited'
  /** It has begun, or come. */
  | 'begun'
  /** It has come, and could not be processed. Another one may come in its place. */
  | 'failed';

/** What of an event tells how far its recording is. */
type Recorded = Pick<Selectable<Event>, 'agent_id' | 'recording_state' | 'processing_state'>;

/**
 * How far the recording of an event is. What a client may change of a scheduled event depends on this alone, whatever the
 * time is.
 *
 * @param hasMedia whether the event has tracks that are seen or heard
 */
export function progressOf(event: Recorded, hasMedia: boolean): RecordingProgress {
  if (event.agent_id === '') return 'unscheduled';
  if (event.processing_state === 'FAILED') return 'failed';
  const mayBeMoved = stateAllows(event.recording_state as RecordingState, '');
  return mayBeMoved && awaitsDelivery(event, hasMedia) ? 'awaited' : 'begun';
}

/** Whether a scheduled event has no recording yet, however far its agent reports to be. */
export function awaitsDelivery(event: Recorded, hasMedia: boolean): boolean {
  return event.agent_id !== '' && event.processing_state === '' && !hasMedia;
}

/** The progress of the recording of an event as it is now; undefined without such an event. */
export async function findProgress(db: Queryable, eventId: string): Promise<RecordingProgress | undefined> {
  const event = await db
    .selectFrom('events')
    .select(['agent_id', 'recording_state', 'processing_state', hasMedia(sql.ref('events.id')).as('recorded')])
    .where('id', '=', eventId)
    .executeTakeFirst();
  return event && progressOf(event, Boolean(event.recorded));
}

function stateAllows(from: RecordingState, to: RecordingState): boolean {
  return from === to || RECORDING_MOVES[from].includes(to);
}

/** A condition: the event with this identifier has tracks that are seen or heard; captions and documents are neither. */
export function hasMedia(eventId: Expression<string>): AliasableExpression<SqlBool> {
  return sql<SqlBool>`EXISTS (SELECT FROM tracks WHERE tracks.event_id = ${eventId} AND tracks.is_media)`;
}

/** When something is to be recorded: from `start` up to `end`. */
export interface Period {
  start: Date;
  end: Date;
}

/** A recording that is to be scheduled, and the title its event has or will have. */
export interface Occurrence extends Period {
  eventId: string;
  title: string;
}

/** What a capture agent is to record for an event. */
export interface Schedule extends Period {
  eventId: string;
  agentId: string;
  /** Inputs of the agent; none when it is to decide. */
  inputs: string[];
}

/** Whether two schedules want the same time of the same agent. */
export function isSamePlace(a: Schedule, b: Schedule): boolean {
  return a.agentId === b.agentId && a.start.getTime() === b.start.getTime() && a.end.getTime() === b.end.getTime();
}
