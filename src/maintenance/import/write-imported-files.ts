import { createHash } from 'node:crypto';
import { sql } from 'kysely';
import { insertDocuments, isMedia as isRecording } from '#catalogue/events/event-files.ts';
import type { Transaction } from '#platform/database/kysely.ts';
import { CAPTIONS_TYPE } from '#platform/media/media-type.ts';
import type { StagingLedger } from '#platform/storage/staging.ts';
import { releaseObjects } from '#platform/storage/staging-sweep.ts';
import { type GivenElement, type GivenPublication, replacePublications } from '#publications/replace-publications.ts';
import type { CopiedFile } from './copy-files.ts';
import type { ItemKey } from './import-items.queries.ts';
import type { EventPlan } from './plan-event.ts';
import type { PlannedElement, PlannedPublication } from './plan-files.ts';
import type { PlannedFile } from './planned-file.ts';
import { planStreams, type StreamPlan } from './stream-properties.ts';

/** The files of a planned event. */
export interface Copies {
  /** By the identifier of the planned file. */
  files: Map<string, CopiedFile>;
  /** The marks of files that are here already, by identifier. */
  kept: Map<string, string>;
  failures: string[];
}

/** Returns the facts by which a file of the source is recognized. */
export function markOf({ size, checksum, path }: PlannedFile): string {
  return size === undefined && !checksum ? path : `${size ?? ''} ${checksum?.hex ?? ''}`;
}

/** The files of an event as they are to be written. */
export interface FilesWrite {
  plan: EventPlan;
  copies: Copies;
  publications: GivenPublication[];
  /** Those that are here after the write. */
  files: PlannedFile[];
  /** Sentences about what could not come along. */
  notes: string[];
  /** The digest of the plan; null if files are missing. */
  digest: string | null;
}

/** Plans how the copied files of an event are written. */
export function planFilesWrite(plan: EventPlan, copies: Copies): FilesWrite {
  const streams = plan.publications.map((each) => planStreams(each, copies.files));
  const publications = plan.publications.map((each, i) => givenPublication(each, plan, copies, streams[i]));
  const used = new Set([
    ...[...plan.tracks, ...plan.attachments].map(({ id }) => id),
    ...publications.flatMap(({ elements }) => elements.map(({ facts }) => facts.id)),
  ]);
  const files = plannedFiles(plan).filter(({ id }) => used.has(id) && (copies.files.has(id) || copies.kept.has(id)));
  const notes = streams.flatMap((each) => each.notes);
  return { plan, copies, publications, files, notes, digest: copies.failures.length > 0 ? null : digestOf(plan) };
}

function plannedFiles({ tracks, attachments, publications }: EventPlan): PlannedFile[] {
  return [...tracks, ...attachments, ...publications.flatMap(({ elements }) => elements)];
}

function digestOf({ tracks, attachments, publications, documents }: EventPlan): string {
  // Addresses have signatures that change; their paths stay.
  const text = JSON.stringify({ tracks, attachments, publications, documents }, (name, value) =>
    name === 'url' ? undefined : value,
  );
  return createHash('sha256').update(text).digest('hex');
}

/** Returns true if the files here are already those of the plan. @param before the digest when they were written */
export function areCurrent({ plan, copies, digest }: FilesWrite, before: string | null): boolean {
  return digest !== null && digest === before && plannedFiles(plan).every(({ id }) => copies.kept.has(id));
}

/**
 * Writes files of an event but for the rows of its new tracks: properties of tracks, attachments, documents and
 * publications. Takes the objects from the staging ledger.
 */
export async function writeFiles(
  trx: Transaction,
  { plan, copies, publications, files }: FilesWrite,
  { key, staging, isNew }: { key: ItemKey; staging: StagingLedger; isNew: boolean },
): Promise<void> {
  if (isNew && files.length + publications.length + plan.documents.length === 0) return;
  await writeTracks(trx, plan, copies);
  await writeAttachments(trx, plan, copies);
  await insertDocuments(trx, plan.id, plan.documents);
  await replacePublications(trx, plan.id, publications);
  const objectKeys = files.flatMap(({ id }) => copies.files.get(id)?.objectKey ?? []);
  await staging.commit(trx, objectKeys);
  await rememberFiles(trx, key, files, copies.kept);
}

/** Writes what the source knows of tracks from their inspection, and their order. */
async function writeTracks(trx: Transaction, { id, tracks }: EventPlan, copies: Copies): Promise<void> {
  const present = tracks.filter((track) => copies.files.has(track.id) || copies.kept.has(track.id));
  if (present.length === 0) return;
  // Positions are unique at each moment.
  await sql`UPDATE tracks SET position = position + ${present.length + 1000}::integer WHERE event_id = ${id}`.execute(
    trx,
  );
  for (const [position, track] of present.entries()) {
    const { flavor, tags, mediatype, filename, duration, hasAudio, hasVideo, streams, warnings, keptParts } = track;
    const isInspected = isRecording(track) || mediatype !== CAPTIONS_TYPE;
    await trx
      .updateTable('tracks')
      .set({
        ...{ position, flavor, tags, mediatype, filename, warnings },
        made_by: track.madeBy,
        hidden_streams: track.hiddenStreams,
        kept_parts: keptParts && sql`${JSON.stringify(keptParts)}::jsonb`,
        ...(isInspected && {
          duration,
          has_audio: hasAudio,
          has_video: hasVideo,
          streams: streams && sql`${JSON.stringify(streams)}::jsonb`,
          // The source does not tell all of it.
          inspection: null,
        }),
      })
      .where('id', '=', track.id)
      .execute();
  }
}

/** Writes the files beside tracks and publications, if the source has them. */
async function writeAttachments(trx: Transaction, { id, attachments }: EventPlan, copies: Copies): Promise<void> {
  const kept = attachments.filter((file) => copies.kept.has(file.id)).map((file) => file.id);
  const removed = await trx
    .deleteFrom('attachments')
    .where('event_id', '=', id)
    .where('id', '<>', sql<string>`ALL(${kept}::uuid[])`)
    .returning('object_key as objectKey')
    .execute();
  const removedKeys = removed.map(({ objectKey }) => objectKey);
  await releaseObjects(trx, removedKeys);
  for (const { id: fileId, flavor, tags, filename, mediatype, trackId } of attachments) {
    const copied = copies.files.get(fileId);
    if (!copied) continue;
    const { objectKey, size, sha256 } = copied;
    const file = { id: fileId, event_id: id, object_key: objectKey, size, sha256, track_id: trackId };
    await trx
      .insertInto('attachments')
      .values({ ...file, flavor, tags, filename, mediatype })
      .execute();
  }
}

function givenPublication(
  { id, channel, mediatype, publishedAt, elements }: PlannedPublication,
  plan: EventPlan,
  copies: Copies,
  streams: StreamPlan | undefined,
): GivenPublication {
  const positions = new Map(
    plan.tracks
      .filter((track) => copies.files.has(track.id) || copies.kept.has(track.id))
      .map((track, i) => [track.id, i]),
  );
  const trackOf = ({ track }: PlannedElement) =>
    track === null ? null : (positions.get(plan.tracks[track]?.id ?? '') ?? null);
  const given = elements.flatMap((element): GivenElement[] => {
    const copied = copies.files.get(element.id);
    if (streams?.leftOut.has(element.id) || (!copied && !copies.kept.has(element.id))) return [];
    const properties = element.properties ?? streams?.properties.get(element.id);
    const facts = {
      ...factsOf(element),
      track: trackOf(element),
      ...(properties && { properties: JSON.stringify(properties) }),
    };
    const isCaptions = element.kind === 'attachment' && element.mediatype === CAPTIONS_TYPE;
    return [{ facts, file: copied && storedFile(copied), ...(isCaptions && { captions: copied?.text }) }];
  });
  return { id, channel, mediatype, publishedAt, elements: given };
}

function factsOf(element: PlannedElement) {
  const { id, kind, position, flavor, filename, mediatype, tags, duration, width, height } = element;
  return {
    ...{ id, kind, position, flavor, filename, mediatype, tags, duration, width, height },
    has_audio: element.hasAudio,
    has_video: element.hasVideo,
    frame_rate: element.frameRate,
    frame_count: element.frameCount,
    bit_rate: element.bitRate,
  };
}

export function storedFile({ objectKey, size, sha256 }: CopiedFile) {
  return { objectKey, size, sha256 };
}

/** Remembers the addresses of files at the source, for links to them and for the next run. */
async function rememberFiles(
  trx: Transaction,
  { sourceId, id }: ItemKey,
  files: readonly PlannedFile[],
  kept: Copies['kept'],
): Promise<void> {
  await trx.deleteFrom('import_files').where('event_id', '=', id).where('source_id', '=', sourceId).execute();
  if (files.length === 0) return;
  const rows = files.map((file) => ({
    ...{ source_id: sourceId, event_id: id },
    path: file.path,
    file_id: file.id,
    mark: kept.get(file.id) ?? markOf(file),
  }));
  await trx.insertInto('import_files').values(rows).execute();
}
