import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import type { Principal } from '#access/principal.ts';
import type { NewAttachment, NewTrack } from '#catalogue/events/event-files.ts';
import type { MetadataEdit } from '#catalogue/events/update/event-edits.ts';
import { updateEvent } from '#catalogue/events/update/update-event.ts';
import { StagedFiles } from '#ingest/staged-files.ts';
import type { Database, Transaction } from '#platform/database/kysely.ts';
import { inTransaction } from '#platform/database/retry.ts';
import { uuidOf } from '#platform/database/uuid.ts';
import { CAPTIONS_TYPE } from '#platform/media/media-type.ts';
import type { ObjectStorage } from '#platform/storage/object-storage.ts';
import type { StagingLedger } from '#platform/storage/staging.ts';
import { advance } from '#processing/advance-workflow.ts';
import type { WorkflowDefinitions } from '#processing/load-definitions.ts';
import { startProcessing } from '#processing/start-workflow.ts';
import { CHOSEN, POSTER_SUBTYPE } from '#publications/editor-files.ts';
import { flavorOf } from '#publications/publication.ts';
import { activeWorkflow, type EditableEvent, editorWorkflows, openEvent } from './editable-event.ts';
import {
  BEING_PROCESSED,
  EVENT_GONE,
  NO_STREAM_LEFT,
  NOT_WRITABLE,
  UNKNOWN_TRACK,
  UNKNOWN_WORKFLOW,
} from './editing-refusals.ts';
import { finishLock, requireNoOtherLock } from './editor-locks.ts';
import { cuttingCatalog, keptParts, type Segment } from './segments.ts';

/** The changes of a person, checked as far as that is possible without the event. */
export interface EventEditing {
  segments: readonly Segment[];
  /** The kinds of streams to leave out, by the identifier of the track. */
  hidden: ReadonlyMap<string, readonly string[]>;
  captions: readonly EditedCaptions[];
  /** Pictures for tracks. */
  pictures: readonly EditedPicture[];
  metadata: MetadataEdit | undefined;
  /** The workflow to start; undefined to save only. */
  workflow: string | undefined;
}

/** Captions or chapters that were changed, added or deleted. */
export interface EditedCaptions {
  /** The identifier, or the flavor for editors that know no identifiers. */
  id: string;
  /** The flavor of new ones. */
  flavor?: string;
  kind: 'captions' | 'chapters';
  tags: readonly string[];
  /** WebVTT; undefined to delete them. */
  text: string | undefined;
}

export interface EditedPicture {
  trackId: string;
  bytes: Uint8Array;
  mediatype: string;
}

export interface EditingServices {
  database: Database;
  storage: ObjectStorage;
  staging: StagingLedger;
  definitions: WorkflowDefinitions;
}

interface Editor {
  principal: Principal;
  requestId: string;
}

/**
 * Saves the changes of a person, and starts the chosen workflow, all or nothing. A workflow that waits and has not yet
 * cut the recording is resumed instead, if it is the chosen one; any other one that waits is stopped.
 *
 * @throws {HttpError} as `openEvent`; 400 for edits that the event does not allow, 409 while another user edits it
 */
export async function saveEvent(
  eventId: string,
  editing: EventEditing,
  editor: Editor,
  services: EditingServices,
): Promise<void> {
  const { database, definitions } = services;
  const { principal } = editor;
  const event = await openEvent(database, { principal, definitions }, eventId);
  if (event.isProcessed) throw BEING_PROCESSED(eventId);
  const parts = keptParts(editing.segments, event.duration);
  requireVisible(event, editing.hidden);
  await using files = new StagedFiles(services, principal.username);
  const captions = identifyCaptions(event, editing.captions);
  const added = await storeCaptions(files, event, captions);
  const pictures = await storePictures(files, event, editing.pictures);
  const removed = captions.map(({ id }) => id);
  const edits = {
    ...(editing.metadata && { metadata: editing.metadata }),
    ...(removed.length > 0 && { tracks: { kind: 'captions' as const, removed, tracks: added } }),
    cut: { catalog: parts && cuttingCatalog(parts), hidden: editing.hidden, pictures },
  };
  const by = { principal, refusals: { missing: EVENT_GONE, denied: NOT_WRITABLE } };
  await inTransaction(database, async (trx) => {
    // The lock order of workers: workflow, then event.
    await trx.selectFrom('workflows').select('id').where('event_id', '=', eventId).forUpdate().execute();
    await updateEvent(trx, eventId, edits, by);
    await requireNoOtherLock(trx, eventId, principal.username);
    const objectKeys = [...added, ...pictures].map(({ objectKey }) => objectKey);
    await services.staging.commit(trx, objectKeys);
    await processEdited(trx, eventId, editing.workflow, { ...editor, definitions });
    if (editing.workflow !== undefined) await finishLock(trx, eventId, principal.username);
  });
  files.keep();
}

/** @throws {HttpError} 400 */
function requireVisible({ tracks }: EditableEvent, hidden: EventEditing['hidden']): void {
  for (const id of hidden.keys()) if (!tracks.some((track) => track.id === id)) throw UNKNOWN_TRACK(id);
  const isVisible = tracks.some(({ id, hasAudio, hasVideo, ...track }) => {
    const left = hidden.get(id) ?? track.hidden;
    return (hasVideo && !left.includes('video')) || (hasAudio && !left.includes('audio'));
  });
  if (!isVisible) throw NO_STREAM_LEFT();
}

/**
 * Returns the last edit of each captions, with their identifier. An editor keeps using the name that it gave to new
 * captions, so their identifier is derived from that name.
 */
function identifyCaptions({ id: eventId, captions }: EditableEvent, edited: readonly EditedCaptions[]) {
  const byId = new Map<string, EditedCaptions>();
  for (const each of edited) {
    const { id: name, kind } = each;
    const stored = captions.find(({ id, flavor }) => [id, flavor].includes(name) && flavorOf({ flavor }).type === kind);
    const id = stored?.id ?? uuidOf(eventId, kind, name);
    byId.set(id, { ...each, id });
  }
  return [...byId.values()];
}

async function storeCaptions(
  files: StagedFiles,
  event: EditableEvent,
  edited: readonly EditedCaptions[],
): Promise<NewTrack[]> {
  const tracks: NewTrack[] = [];
  for (const { id, kind, tags, text, flavor: added = `${kind}/source` } of edited) {
    if (text === undefined) continue;
    const before = event.captions.find((captions) => captions.id === id);
    const filename = `${kind}.vtt`;
    const stored = await storeBytes(files, Buffer.from(text), { field: kind, filename, mediatype: CAPTIONS_TYPE });
    const flavor = before?.flavor ?? added;
    tracks.push({ ...stored, id, flavor, tags: tags.length > 0 ? tags : (before?.tags ?? []) });
  }
  return tracks;
}

/** Stores one picture of each type of flavor, the last one. @throws {HttpError} 400 for an unknown track */
async function storePictures(
  files: StagedFiles,
  { tracks }: EditableEvent,
  edited: readonly EditedPicture[],
): Promise<NewAttachment[]> {
  const byType = new Map<string, EditedPicture>();
  for (const picture of edited) {
    const track = tracks.find(({ id }) => id === picture.trackId);
    if (!track) throw UNKNOWN_TRACK(picture.trackId);
    byType.set(flavorOf(track).type, picture);
  }
  const pictures: NewAttachment[] = [];
  for (const [type, { bytes, mediatype }] of byType) {
    const filename = `thumbnail.${mediatype.slice('image/'.length)}`;
    const stored = await storeBytes(files, bytes, { field: type, filename, mediatype });
    pictures.push({ ...stored, id: randomUUID(), flavor: `${type}/${POSTER_SUBTYPE}`, tags: [CHOSEN] });
  }
  return pictures;
}

async function storeBytes(
  files: StagedFiles,
  bytes: Uint8Array,
  { field, filename, mediatype }: { field: string; filename: string; mediatype: string },
) {
  const stream = Readable.from([bytes]);
  const { field: _, ...stored } = await files.store({
    ...{ field, filename, stream, expectedBytes: bytes.length, isReceived: false },
    detect: () => mediatype,
  });
  return stored;
}

/** Starts or resumes the chosen workflow. @throws {HttpError} 423 while another one runs, 400 for one that is not offered */
async function processEdited(
  trx: Transaction,
  eventId: string,
  chosen: string | undefined,
  source: Editor & { definitions: WorkflowDefinitions },
): Promise<void> {
  const by = source.principal.username;
  const active = await activeWorkflow(trx, eventId);
  if (active && !active.isWaiting) throw BEING_PROCESSED(eventId);
  if (chosen === undefined) return;
  const offered = editorWorkflows(source.definitions, active).map(({ id }) => id);
  const workflow = source.definitions.knows(chosen) ? source.definitions.resolve(chosen).id : chosen;
  if (!offered.includes(workflow)) throw UNKNOWN_WORKFLOW(chosen.slice(0, 100), offered.join(', '));
  if (active?.cutsLater && workflow === active.definition) {
    await advance(trx, active.id, { kind: 'resumed', by });
    return;
  }
  if (active) await advance(trx, active.id, { kind: 'stopped', by });
  await startProcessing(trx, eventId, { workflow, configuration: {} }, source);
}
