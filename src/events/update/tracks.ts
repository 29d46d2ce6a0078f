import { sql } from 'kysely';
import type { Queryable, Transaction } from '../../database/kysely.ts';
import { Outdated } from '../../database/retry.ts';
import { processingOf } from '../../recordings/schedules/schedules.queries.ts';
import {
  advanceRecording,
  awaitsDelivery,
  type RecordingProgress,
  recordingProgress,
} from '../../recordings/state.ts';
import { releaseObjects } from '../../storage/staging-entries.ts';
import type { Processing } from '../../workflows/processing.ts';
import { isActive } from '../../workflows/states.ts';
import { EVENT_MISSING, NOT_SCHEDULED_ANY_MORE, RECORDED_ALREADY } from '../refusals.ts';
import { insertTracks, type NewTrack } from '../tracks.ts';
import type { LockedEvent } from './lock-event.ts';
import type { Refusals } from './refusals.ts';

/** What tracks that come are to an event. */
export type TrackPurpose =
  /**
   * The recording that a scheduled event awaits, or another one in place of that which could not be processed; at least
   * one. An agent may bring it that has reported it before.
   */
  | { kind: 'recording'; from?: 'agent' }
  /** They stand beside those that are there, or in place of some; while a workflow is active, none may come or go. */
  | { kind: 'tracks'; replaced: ReplacedTracks | undefined };

/** What is to become of an event's tracks. */
export type TrackEdit = TrackPurpose & { tracks: readonly NewTrack[] };

/** Of one flavor several languages may stand side by side: a tag `lang:` says which of them is meant. */
export interface ReplacedTracks {
  flavor: string;
  tags: readonly string[];
}

export interface EditedTracks {
  /** How many tracks went. */
  removed: number;
  /** What is to be done now that the event has got the recording it awaited; undefined when it has not. */
  processing: Processing | undefined;
}

/**
 * How far the recording of an event is that another comes for.
 *
 * @throws {HttpError} 409 for a scheduled event whose recording has begun or come: it is never replaced, unless its
 * processing has failed
 */
export async function refuseSecondRecording(
  db: Queryable,
  eventId: string,
): Promise<Exclude<RecordingProgress, 'begun'>> {
  const progress = await recordingProgress(db, eventId);
  if (progress === undefined) throw EVENT_MISSING(eventId);
  if (progress !== 'begun') return progress;
  throw RECORDED_ALREADY(eventId);
}

/**
 * Refuses an edit of tracks that the event cannot take now. Comes before anything is changed.
 *
 * @throws {HttpError} 409 for a recording that nobody awaits
 * @throws {Outdated} for one of an agent whose event has got another meanwhile
 */
export async function requireEditable(
  trx: Transaction,
  event: LockedEvent,
  edit: TrackEdit,
  refusals: Refusals,
): Promise<void> {
  if (edit.kind === 'tracks') {
    if (isActive(event.processing_state)) throw refusals.processing(event.id);
    return;
  }
  if (edit.from === 'agent') {
    if (await awaitsDelivery(trx, event.id)) return;
    throw new Outdated('The event has got its recording meanwhile.');
  }
  if ((await refuseSecondRecording(trx, event.id)) !== 'unscheduled') return;
  // Deleted meanwhile, and created anew.
  throw NOT_SCHEDULED_ANY_MORE(event.id);
}

/**
 * Gives a locked event more tracks, or takes some from it; their objects are released. A scheduled event that awaited
 * its recording has it then if these are to be seen or heard.
 *
 * @throws {HttpError} 409 for a track that would replace the recording of a scheduled event
 */
export async function editTracks(
  trx: Transaction,
  event: LockedEvent,
  edit: TrackEdit,
): Promise<EditedTracks> {
  const before = await recordingProgress(trx, event.id);
  const removed = await removeTracks(trx, event.id, removedBy(edit, before));
  const replacesMedia = removed.some(({ is_media }) => is_media);
  if (edit.tracks.length > 0 && replacesMedia) await refuseSecondRecording(trx, event.id);
  await insertTracks(trx, event.id, edit.tracks);
  const recorded =
    edit.kind === 'recording' ||
    (before === 'awaited' && (await recordingProgress(trx, event.id)) === 'begun') ||
    (before === 'failed' && edit.tracks.length > 0 && replacesMedia);
  if (recorded) await advanceRecording(trx, event.id, { kind: 'recorded' });
  return { removed: removed.length, processing: recorded ? await processingOf(trx, event.id) : undefined };
}

/** Which tracks an edit takes away; undefined for none, and `media` for the recording that failed. */
function removedBy(
  edit: TrackEdit,
  before: RecordingProgress | undefined,
): ReplacedTracks | 'media' | undefined {
  if (edit.kind === 'tracks') return edit.replaced;
  return before === 'failed' ? 'media' : undefined;
}

async function removeTracks(
  trx: Transaction,
  eventId: string,
  which: ReplacedTracks | 'media' | undefined,
): Promise<{ is_media: boolean }[]> {
  if (which === undefined) return [];
  let replaced = trx.deleteFrom('tracks').where('event_id', '=', eventId);
  if (which === 'media') replaced = replaced.where('is_media', '=', true);
  else {
    const { flavor, tags } = which;
    const languages = tags.filter((tag) => tag.startsWith('lang:'));
    replaced = replaced.where('flavor', '=', flavor);
    if (languages.length > 0) replaced = replaced.where('tags', '&&', sql<string[]>`${languages}::text[]`);
  }
  const rows = await replaced.returning(['object_key', 'is_media']).execute();
  await releaseObjects(
    trx,
    rows.map(({ object_key }) => object_key),
  );
  return rows;
}
