import { isDeepStrictEqual } from 'node:util';
import { type AclEntry, MAX_ENTRIES } from '#access/acl/acl.ts';
import { requireSchedulable } from '#capture/agents/agent-names.ts';
import { periodOf } from '#capture/schedules/parse-scheduling.ts';
import {
  awaitsDelivery,
  isSamePlace,
  progressOf,
  type RecordingProgress,
  type RecordingState,
  type Schedule,
  stateAfter,
} from '#capture/states/recording-state.ts';
import type { CatalogValues } from '#metadata/catalog.ts';
import { withoutUntouched } from '#metadata/core-fields.ts';
import { requireValues } from '#metadata/parse-metadata.ts';
import { TransactionConflict } from '#platform/database/retry.ts';
import type { Processing } from '#processing/processing-request.ts';
import { isActive } from '#processing/workflow-states.ts';
import { changedColumns } from '../event-columns.ts';
import { isMedia } from '../event-files.ts';
import {
  ACL_FULL,
  NO_ACL_ENTRY,
  NO_CATALOG_TO_DELETE,
  NO_SUCH_SERIES,
  NO_WORKFLOW,
  NOT_SCHEDULED_ANY_MORE,
  RECORDED_ALREADY,
  RECORDING_BEGUN,
  UPLOADED_ALREADY,
} from '../event-refusals.ts';
import type { EventState, StoredTrack } from '../event-state.ts';
import { EVENT_PARTS, type EventWrite } from '../write-events.ts';
import type { AclEdit, EventEdits, MetadataEdit, SchedulingEdit, TrackEdit, UpdateRefusals } from './event-edits.ts';

/** The result of deciding an update. */
export interface Decision {
  /** Undefined when nothing changes. */
  write: EventWrite | undefined;
  /** The number of removed tracks. */
  removed: number;
  /** The processing to start because the awaited recording arrived; undefined if it did not. */
  processing: Processing | undefined;
}

/**
 * Decides an update: all edits or none, in the order of compatibility 3.6. Metadata may change while a workflow is active,
 * the ACL and the tracks may not. Processing and scheduling may change until the recording of a scheduled event begins.
 *
 * @throws {HttpError} 400 for an edit that cannot be applied, 409 for a recording that the event does not await
 * @throws {TransactionConflict} for a recording of an agent whose event has another recording
 */
export function decideUpdate(
  state: EventState,
  { metadata, acl, scheduling, processing, tracks, cut }: EventEdits,
  { actor, refusals }: { actor: string; refusals: UpdateRefusals },
): Decision {
  const { row } = state;
  if (tracks) requireEditable(state, tracks, refusals);
  const described = metadata && decideMetadata(state, metadata);
  const entries = acl && decideAcl(state, acl, refusals);
  if (processing) requireProcessable(state, processing);
  const to = scheduling && decideSchedule(state, scheduling, refusals);
  const planned = isDeepStrictEqual(state.processing, processing) ? undefined : processing;
  const files = tracks && decideTracks(state, tracks);
  const changed = {
    metadata: described !== undefined,
    acl: entries !== undefined,
    scheduling: to !== undefined,
    processing: planned !== undefined,
    tracks: files !== undefined && files.removed.length + files.added.length > 0,
    cut: cut !== undefined,
  };
  const parts = EVENT_PARTS.filter((part) => changed[part]);
  const outcome = {
    removed: files?.removed.length ?? 0,
    processing: files?.recorded ? (planned ?? state.processing) : undefined,
  };
  if (parts.length === 0) return { write: undefined, ...outcome };
  const recording = recordingStates(state, to, files?.recorded ?? false);
  const columns = {
    ...described?.columns,
    ...(to && shownColumns(state, to)),
    ...(entries && { own_acl: true }),
  };
  const isPlanned = to !== undefined || planned !== undefined || recording.length > 0;
  const schedule =
    state.schedule && isPlanned
      ? {
          from: state.schedule,
          to,
          processing: planned,
          recordingState: recording.at(-1),
          title: row.title,
          gapMs: scheduling?.gapMs ?? 0,
          allowConflict: scheduling?.allowConflict ?? false,
        }
      : undefined;
  const write: EventWrite = {
    ids: [row.id],
    actor,
    rows: { kind: 'changed', columns, parts },
    schedule,
    recording,
    acl: entries,
    catalogs: described?.catalogs,
    removedCatalogs: described?.removed === undefined ? [] : [described.removed],
    removedTracks: files?.removed ?? [],
    tracks: files?.added ?? [],
    cut,
  };
  return { write, ...outcome };
}

/**
 * Refuses to replace the recording of a scheduled event, unless its processing failed.
 *
 * @throws {HttpError} 409 once the recording has begun
 */
export function refuseSecondRecording(eventId: string, progress: RecordingProgress): void {
  if (progress === 'begun') throw RECORDED_ALREADY(eventId);
}

function requireEditable({ row, tracks, progress }: EventState, edit: TrackEdit, refusals: UpdateRefusals): void {
  // The sender has found the workflow waiting.
  if (edit.kind === 'captions') return;
  if (edit.kind === 'tracks') {
    if (isActive(row.processing_state)) throw refusals.processing(row.id);
    return;
  }
  if (edit.from === 'agent') {
    const hasMedia = tracks.some(({ isMedia }) => isMedia);
    if (awaitsDelivery(row, hasMedia)) return;
    throw new TransactionConflict('The event has another recording now.');
  }
  refuseSecondRecording(row.id, progress);
  // The event was deleted and created again during the upload.
  if (progress === 'unscheduled') throw NOT_SCHEDULED_ANY_MORE(row.id);
}

/** Returns undefined if nothing changes. */
function decideMetadata(state: EventState, edit: MetadataEdit) {
  if (edit.kind === 'remove') {
    const flavor = edit.catalogs.find(edit.flavor)?.flavor;
    if (flavor !== undefined && state.catalogs.has(flavor)) return { removed: flavor };
    throw NO_CATALOG_TO_DELETE(edit.flavor, state.row.id);
  }
  const { common } = edit.catalogs;
  let { given } = edit;
  if (edit.kind === 'written back') {
    given = withoutUntouched(given, state.catalogs, common.flavor);
    requireValues(given, edit.catalogs);
  }
  const columns = commonColumns(state, given.get(common.flavor) ?? new Map());
  const catalogs = new Map(
    [...given].filter(([flavor, values]) => flavor !== common.flavor && !holds(state.catalogs.get(flavor), values)),
  );
  return Object.keys(columns).length + catalogs.size > 0 ? { columns, catalogs } : undefined;
}

function commonColumns({ row, references }: EventState, values: CatalogValues) {
  const named = Array.isArray(values.get('creator'))
    ? new Map(values).set('creator', [...references.presenters])
    : values;
  const columns = changedColumns(named, row);
  if (columns.series_id && !references.seriesFound) throw NO_SUCH_SERIES(columns.series_id);
  return columns;
}

function holds(stored: CatalogValues | undefined, values: CatalogValues): boolean {
  return [...values].every(([id, value]) => JSON.stringify(value) === JSON.stringify(stored?.get(id)));
}

/** Returns the entries of the event's own list, or undefined if nothing changes. */
function decideAcl({ row, acl }: EventState, edit: AclEdit, refusals: UpdateRefusals): readonly AclEntry[] | undefined {
  const edited = entriesAfter(edit, acl.entries);
  if (isActive(row.processing_state)) throw refusals.processing(row.id);
  return acl.own && isDeepStrictEqual(acl.entries.map(plain), edited.map(plain)) ? undefined : edited;
}

function entriesAfter(edit: AclEdit, current: readonly AclEntry[]): readonly AclEntry[] {
  if (edit.kind === 'replace') return edit.entries;
  const { action, role } = edit.kind === 'add' ? edit.entry : edit;
  const isMeant = (entry: AclEntry) => entry.action === action && entry.role === role;
  const found = current.some(isMeant);
  if (edit.kind === 'remove') {
    if (!found) throw NO_ACL_ENTRY(action, role);
    return current.filter((entry) => !isMeant(entry));
  }
  if (found) return current.map((entry) => (isMeant(entry) ? edit.entry : entry));
  if (current.length >= MAX_ENTRIES) throw ACL_FULL(MAX_ENTRIES);
  return [...current, edit.entry];
}

function plain({ action, role, allow }: AclEntry) {
  return [action, role, allow];
}

function requireProcessable({ progress }: EventState, processing: Processing): void {
  if (progress !== 'awaited') throw UPLOADED_ALREADY();
  if (!processing.workflow) throw NO_WORKFLOW();
}

/** Returns undefined if nothing changes. */
function decideSchedule(
  { row, schedule: from, progress, references }: EventState,
  { change }: SchedulingEdit,
  refusals: UpdateRefusals,
): Schedule | undefined {
  if (!from) throw refusals.unscheduled(row.id);
  const { agentId = from.agentId, inputs = from.inputs } = change;
  const to: Schedule = { eventId: row.id, agentId, inputs, ...periodOf(change, from) };
  if (isSamePlace(from, to) && isDeepStrictEqual(from.inputs, to.inputs)) return undefined;
  if (progress !== 'awaited') throw RECORDING_BEGUN();
  if (agentId !== from.agentId) requireSchedulable(agentId, references.agentKnown);
  return to;
}

/** Returns the start, duration and location that follow from the new time and agent. */
function shownColumns({ schedule: from }: EventState, to: Schedule) {
  const isPostponed = from !== undefined && !isSamePlace(from, { ...to, agentId: from.agentId });
  return {
    ...(isPostponed && { start_date: to.start, created: to.start, duration: to.end.getTime() - to.start.getTime() }),
    ...(to.agentId !== from?.agentId && { location: to.agentId }),
  };
}

/** New audio or video tracks count as the recording that a scheduled event awaits. */
function decideTracks(state: EventState, edit: TrackEdit) {
  const { row, tracks, progress } = state;
  const removed = tracks.filter(removedBy(edit, progress));
  const kept = tracks.filter((track) => !removed.includes(track)).some(({ isMedia }) => isMedia);
  const replacesMedia = removed.some(({ isMedia }) => isMedia);
  const added = edit.tracks;
  if (added.length > 0 && replacesMedia) refuseSecondRecording(row.id, progressOf(row, kept));
  const comes = progress === 'awaited' && progressOf(row, kept || added.some(isMedia)) === 'begun';
  const comesAgain = progress === 'failed' && added.length > 0 && replacesMedia;
  return { removed, added, recorded: edit.kind === 'recording' || comes || comesAgain };
}

/** Returns the test for tracks that an edit removes. A recording replaces one that failed. */
function removedBy(edit: TrackEdit, progress: RecordingProgress): (track: StoredTrack) => boolean {
  if (edit.kind === 'recording') return ({ isMedia }) => progress === 'failed' && isMedia;
  if (edit.kind === 'captions') return ({ id }) => edit.removed.includes(id);
  const { replaced } = edit;
  if (!replaced) return () => false;
  const languages = replaced.tags.filter((tag) => tag.startsWith('lang:'));
  return ({ flavor, tags }) =>
    flavor === replaced.flavor && (languages.length === 0 || languages.some((language) => tags.includes(language)));
}

/** Returns the new states of the recording, in order. */
function recordingStates({ row, schedule }: EventState, to: Schedule | undefined, recorded: boolean): RecordingState[] {
  const states: RecordingState[] = [];
  let state = row.recording_state as RecordingState;
  const advance = (kind: 'moved' | 'recorded') => {
    const next = stateAfter(state, { kind });
    if (next !== state) states.push(next);
    state = next;
  };
  if (schedule && to && !isSamePlace(schedule, to)) advance('moved');
  if (recorded) advance('recorded');
  return states;
}
