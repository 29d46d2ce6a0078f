import { type AliasableExpression, type Expression, type Selectable, type SqlBool, sql } from 'kysely';
import type { Queryable } from '#platform/database/kysely.ts';
import type { Event } from '#platform/database/schema.ts';
import { assertMove } from '#processing/workflow-states.ts';

const UPLOADING = ['uploading', 'upload_finished', 'upload_error'] as const;
const COMPRESSING = ['compressing', 'compressing_error', ...UPLOADING] as const;
const MANIFEST = ['manifest', 'manifest_error', 'manifest_finished', ...COMPRESSING] as const;
/** The states that agents report. */
export const REPORTED_STATES = ['capturing', 'capture_finished', 'capture_error', ...MANIFEST] as const;
/** The state of a recording as its agent reports it; empty before the first report. */
export type RecordingState = '' | (typeof REPORTED_STATES)[number];

/** A failed recording may be moved, repeated, or delivered late. */
const AFTER_FAILURE = ['', ...REPORTED_STATES] as const;

/** Every legal state change. Agents skip steps they do not perform, and states never go back. */
export const RECORDING_MOVES: Readonly<Record<RecordingState, readonly RecordingState[]>> = {
  '': REPORTED_STATES,
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

/** A change of a recording. `stateAfter()` decides the new state. */
export type RecordingChange =
  /** The recording moved to another time or agent: its state is reset. */
  { kind: 'moved' } | { kind: 'recorded' } | { kind: 'reported'; state: (typeof REPORTED_STATES)[number] };

const TARGETS = { moved: '', recorded: 'upload_finished' } as const;

/** Returns the state after a change; repeating the current state is legal. @throws {IllegalMove} */
export function stateAfter(from: RecordingState, change: RecordingChange): RecordingState {
  const to = change.kind === 'reported' ? change.state : TARGETS[change.kind];
  if (from !== to) assertMove(RECORDING_MOVES, from, to);
  return to;
}

/** The progress of an event's recording, which decides what clients may change. */
export type RecordingProgress =
  /** Not a scheduled event. */
  | 'unscheduled'
  /** Not delivered yet; a failed or missed recording may still come. */
  | 'awaited'
  /** Recording has started, or is delivered. */
  | 'begun'
  /** Delivered, but processing failed. A new recording may replace it. */
  | 'failed';

/** The fields of an event that decide the progress of its recording. */
type Recorded = Pick<Selectable<Event>, 'agent_id' | 'recording_state' | 'processing_state'>;

/** Returns the progress of an event's recording. @param hasMedia true if it has audio or video tracks */
export function progressOf(event: Recorded, hasMedia: boolean): RecordingProgress {
  if (event.agent_id === '') return 'unscheduled';
  if (event.processing_state === 'FAILED') return 'failed';
  const state = event.recording_state as RecordingState;
  const mayBeMoved = state === '' || RECORDING_MOVES[state].includes('');
  return mayBeMoved && awaitsDelivery(event, hasMedia) ? 'awaited' : 'begun';
}

/** True if a scheduled event has no recording yet, whatever state its agent reports. */
export function awaitsDelivery(event: Recorded, hasMedia: boolean): boolean {
  return event.agent_id !== '' && event.processing_state === '' && !hasMedia;
}

/** Reads the progress of an event's recording; undefined if the event does not exist. */
export async function findProgress(db: Queryable, eventId: string): Promise<RecordingProgress | undefined> {
  const event = await db
    .selectFrom('events')
    .select(['agent_id', 'recording_state', 'processing_state', hasMedia(sql.ref('events.id')).as('recorded')])
    .where('id', '=', eventId)
    .executeTakeFirst();
  return event && progressOf(event, Boolean(event.recorded));
}

/** Returns a condition: the event has audio or video tracks; captions and documents do not count. */
export function hasMedia(eventId: Expression<string>): AliasableExpression<SqlBool> {
  return sql<SqlBool>`EXISTS (SELECT FROM tracks WHERE tracks.event_id = ${eventId} AND tracks.is_media)`;
}

export interface Period {
  start: Date;
  end: Date;
}

/** A recording to schedule, with the title of its event. */
export interface Occurrence extends Period {
  eventId: string;
  title: string;
}

export interface Schedule extends Period {
  eventId: string;
  agentId: string;
  /** The agent's inputs to record; empty to let the agent decide. */
  inputs: string[];
}

/** True if two schedules use the same time of the same agent. */
export function isSamePlace(a: Schedule, b: Schedule): boolean {
  return a.agentId === b.agentId && a.start.getTime() === b.start.getTime() && a.end.getTime() === b.end.getTime();
}
