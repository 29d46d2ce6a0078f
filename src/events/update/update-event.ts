import type { Principal } from '../../access/principal.ts';
import type { NewChange } from '../../changes/change.ts';
import { recordChanges } from '../../changes/record.ts';
import type { Transaction } from '../../database/kysely.ts';
import { Outdated } from '../../database/retry.ts';
import { scheduleOf } from '../../recordings/schedules/schedules.queries.ts';
import type { Processing } from '../../workflows/processing.ts';
import { type AclEdit, editAcl } from './acl.ts';
import { countVersion, lockEvent } from './lock-event.ts';
import { editMetadata, type MetadataEdit, seriesToJoin } from './metadata.ts';
import { REFUSALS, type Refusals } from './refusals.ts';
import { editProcessing, editScheduling, requireProcessable, type SchedulingEdit } from './scheduling.ts';
import { type EditedTracks, editTracks, requireEditable, type TrackEdit } from './tracks.ts';

const EVENT_PARTS = ['metadata', 'acl', 'scheduling', 'processing', 'tracks'] as const;
type EventPart = (typeof EVENT_PARTS)[number];

/** What is to become of an event; of what is not there nothing changes. */
export interface EventEdits {
  metadata?: MetadataEdit | undefined;
  acl?: AclEdit | undefined;
  scheduling?: SchedulingEdit | undefined;
  /** What is to be done with the recording of a scheduled event once it comes. */
  processing?: Processing | undefined;
  tracks?: TrackEdit | undefined;
}

/**
 * Every change of an event that somebody asks for, whoever asks (but for `dropAclsOfSeries`): locks the event and what belongs to it, applies the
 * edits in their order (compatibility 3.6), all of them or none, and counts one version if anything has changed. Metadata
 * may change while a workflow runs, the ACL and the tracks may not; processing and scheduling only until the recording of
 * a scheduled event begins. Publications stay as they are until a workflow publishes anew.
 *
 * Objects of new tracks are for the caller to take off the staging ledger, and a recording that has come for it to have
 * processed. Run it in `inTransaction`, or in `explainingConflicts` when the schedule may change.
 *
 * @param by.refusals what is said here where `POST /api/events/{id}` says something else
 * @throws {HttpError} 404 for an event that the principal may not read, 401 for one it may not write, 400 for an edit that
 * cannot be applied, 409 for a recording that nobody awaits
 * @throws {Overlap} when something else is to be recorded then
 * @throws {Outdated} for a recording of an agent whose event has been deleted, or has got another, meanwhile
 */
export async function updateEvent(
  trx: Transaction,
  id: string,
  { metadata, acl, scheduling, processing, tracks }: EventEdits,
  by: { principal: Principal; refusals?: Partial<Refusals> },
): Promise<EditedTracks> {
  const refusals = { ...REFUSALS, ...by.refusals };
  const joining = metadata && seriesToJoin(metadata);
  const missing = isOfAgent(tracks) ? DELETED : refusals.missing;
  const event = await lockEvent(trx, id, by.principal, { joining, missing });
  if (tracks) await requireEditable(trx, event, tracks, refusals);
  const changed: Record<EventPart, boolean> = {
    metadata: metadata !== undefined && (await editMetadata(trx, event, metadata, by.principal)),
    acl: acl !== undefined && (await editAcl(trx, event, acl, refusals)),
    scheduling: false,
    processing: false,
    tracks: false,
  };
  // Processing is looked at before and written after: moving a schedule locks its agent first.
  if (processing) await requireProcessable(trx, id, processing);
  changed.scheduling = scheduling !== undefined && (await editScheduling(trx, event, scheduling, refusals));
  changed.processing = processing !== undefined && (await editProcessing(trx, id, processing));
  const edited = tracks ? await editTracks(trx, event, tracks) : { removed: 0, processing: undefined };
  changed.tracks = edited.removed > 0 || (tracks?.tracks ?? []).length > 0;
  const parts = EVENT_PARTS.filter((part) => changed[part]);
  if (parts.length > 0) {
    await countVersion(trx, [id]);
    await recordChanges(trx, await changesOf(trx, id, parts, { tracks, actor: by.principal.username }));
  }
  return edited;
}

const DELETED = () => new Outdated('The event has been deleted meanwhile.');

function isOfAgent(tracks: TrackEdit | undefined): boolean {
  return tracks?.kind === 'recording' && tracks.from === 'agent';
}

async function changesOf(
  trx: Transaction,
  eventId: string,
  parts: readonly EventPart[],
  { tracks, actor }: { tracks: TrackEdit | undefined; actor: string },
): Promise<NewChange[]> {
  const added = tracks?.tracks ?? [];
  const bytes = added.reduce((sum, { size }) => sum + size, 0);
  const data = { parts, ...(added.length > 0 && { tracks: added.length, bytes }) };
  const changes: NewChange[] = [{ kind: 'event.changed', eventId, actor, data }];
  const schedule = parts.includes('scheduling') ? await scheduleOf(trx, eventId) : undefined;
  if (schedule) {
    const { agentId: agent, start, end } = schedule;
    const facts = { agent, start: start.toISOString(), end: end.toISOString() };
    changes.push({ kind: 'event.scheduled', eventId, actor, data: facts });
  }
  return changes;
}
