import { sql } from 'kysely';
import { removeSchedule } from '#capture/schedules/write-schedules.ts';
import { insertDocuments, isMedia as isRecording, type NewTrack } from '#catalogue/events/event-files.ts';
import { EVENT_PARTS, type EventWrite, writeEvents } from '#catalogue/events/write-events.ts';
import type { Queryable, Transaction } from '#platform/database/kysely.ts';
import { inTransaction } from '#platform/database/retry.ts';
import { CAPTIONS_TYPE } from '#platform/media/media-type.ts';
import { releaseObjects } from '#platform/storage/staging-sweep.ts';
import { ACTIVE_STATES } from '#processing/workflow-states.ts';
import { type GivenElement, type GivenPublication, replacePublications } from '#publications/replace-publications.ts';
import type { CopiedFile } from './copy-files.ts';
import { type ItemKey, type ItemResult, saveResult } from './import-items.queries.ts';
import { ACTOR, type ImportServices } from './import-services.ts';
import type { EventPlan } from './plan-event.ts';
import type { PlannedElement, PlannedPublication } from './plan-files.ts';
import type { PlannedFile } from './planned-file.ts';
import { planStreams, type StreamPlan } from './stream-properties.ts';

/** The state of an event here. */
export interface Here {
  version: string;
  /** True while a workflow processes it. */
  isProcessed: boolean;
  /** The marks of its imported files that are still there, by identifier. */
  marks: Map<string, string>;
}

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

/** The parts of the outcome that the plan does not have. */
interface Write {
  here: Here | undefined;
  copies: Copies;
  digest: string;
}

/** Writes a planned event with its copied files, and the outcome of the item, in one transaction. @throws {ConcurrentChange} */
export async function writeImportedEvent(
  plan: EventPlan,
  { here, copies, digest }: Write,
  services: ImportServices,
): Promise<ItemResult> {
  const key: ItemKey = { sourceId: services.sourceId, kind: 'event', id: plan.id };
  const streams = plan.publications.map((each) => planStreams(each, copies.files));
  const notes = [...plan.notes, ...streams.flatMap((each) => each.notes)];
  const publications = plan.publications.map((each, i) => givenPublication(each, plan, copies, streams[i]));
  const used = new Set([
    ...[...plan.tracks, ...plan.attachments].map(({ id }) => id),
    ...publications.flatMap(({ elements }) => elements.map(({ facts }) => facts.id)),
  ]);
  const files = [...plan.tracks, ...plan.attachments, ...plan.publications.flatMap(({ elements }) => elements)].filter(
    ({ id }) => used.has(id) && (copies.files.has(id) || copies.kept.has(id)),
  );
  const objectKeys = files.flatMap(({ id }) => copies.files.get(id)?.objectKey ?? []);
  return inTransaction(services.database, async (trx) => {
    await lockPlaces(trx, plan, here);
    if (!plan.schedule) await removeSchedule(trx, plan.id);
    await writeEvents(trx, await eventWrite(trx, plan, { here, copies }, services));
    await writeTracks(trx, plan, copies);
    await writeAttachments(trx, plan, copies);
    await insertDocuments(trx, plan.id, plan.documents);
    await replacePublications(trx, plan.id, publications);
    await services.staging.commit(trx, objectKeys);
    await rememberFiles(trx, key, files, copies.kept);
    const { version, bytes } = await trx
      .selectFrom('events')
      .select(EVENT_VERSION.as('version'))
      .select(
        sql<number>`((SELECT coalesce(sum(size), 0) FROM tracks WHERE event_id = events.id)
        + (SELECT coalesce(sum(size), 0) FROM publication_elements WHERE event_id = events.id))::float8`.as('bytes'),
      )
      .where('id', '=', plan.id)
      .executeTakeFirstOrThrow();
    const { failures } = copies;
    const written = { notes, version, files: files.length, bytes };
    const result: ItemResult =
      failures.length > 0
        ? { state: 'failed', reason: failures.join(' '), ...written }
        : { state: 'copied', copied: digest, ...written };
    await saveResult(trx, key, result);
    return result;
  });
}

/** The version of an event: other edits and workflows than those of the import change it. */
export const EVENT_VERSION = sql<string>`concat_ws('.', archive_version,
  (SELECT max(id) FROM workflows WHERE event_id = events.id AND creator <> ${ACTOR}))`;

/** Returns the version of an event here; undefined if it does not exist. */
export async function eventVersion(db: Queryable, id: string): Promise<string | undefined> {
  const event = db.selectFrom('events').select(EVENT_VERSION.as('version')).where('id', '=', id);
  return (await event.executeTakeFirst())?.version;
}

/** The event was changed here while its files were copied. */
export class ConcurrentChange extends Error {
  override name = 'ConcurrentChange';
}

/** Locks series and event in the order of all writers. @throws {ConcurrentChange} */
async function lockPlaces(trx: Transaction, { id, columns }: EventPlan, here: Here | undefined): Promise<void> {
  await sql`SELECT pg_advisory_xact_lock(hashtextextended(${id}, 0))`.execute(trx);
  await sql`SELECT FROM series WHERE id IN (${columns.series_id}, (SELECT series_id FROM events WHERE id = ${id}))
    ORDER BY id FOR SHARE`.execute(trx);
  await trx.selectFrom('events').select('id').where('id', '=', id).forUpdate().execute();
  const workflows = trx.selectFrom('workflows').select('id').where('event_id', '=', id);
  if (await workflows.where('state', 'in', ACTIVE_STATES).limit(1).executeTakeFirst())
    throw new ConcurrentChange('It is being processed here.');
  if ((await eventVersion(trx, id)) !== here?.version)
    throw new ConcurrentChange('It was changed here while its files were copied.');
}

async function eventWrite(
  trx: Transaction,
  plan: EventPlan,
  { here, copies }: Omit<Write, 'digest'>,
  { sourceId, gapMs, theirs }: ImportServices,
): Promise<EventWrite> {
  const { id, columns, acl, catalogs, schedule } = plan;
  const { title, start_date, created, duration, ...shared } = { ...columns, own_acl: plan.ownAcl };
  const present = await trx
    .selectFrom('tracks')
    .select(['id', 'flavor', 'tags', 'object_key as objectKey', 'is_media as isMedia'])
    .where('event_id', '=', id)
    .where((eb) =>
      theirs
        ? eb.val(true)
        : eb.exists(
            eb.selectFrom('import_files').whereRef('file_id', '=', 'tracks.id').where('source_id', '=', sourceId),
          ),
    )
    .execute();
  const stored = await trx.selectFrom('event_catalogs').select('flavor').where('event_id', '=', id).execute();
  return {
    ids: [id],
    actor: ACTOR,
    rows: here
      ? {
          kind: 'changed',
          columns: { ...columns, own_acl: plan.ownAcl },
          parts: EVENT_PARTS.filter((part) => part !== 'cut'),
        }
      : { kind: 'new', own: [{ id, title, start_date, created, duration }], shared },
    ...(schedule && (await scheduleWrite(trx, plan, gapMs))),
    acl: plan.ownAcl ? acl : [],
    catalogs,
    removedCatalogs: stored.map(({ flavor }) => flavor).filter((flavor) => !catalogs.has(flavor)),
    removedTracks: present.filter((track) => !copies.kept.has(track.id)),
    tracks: plan.tracks.flatMap((track): NewTrack[] => {
      const copied = copies.files.get(track.id);
      const { id, flavor, tags, filename, mediatype } = track;
      return copied ? [{ id, flavor, tags, filename, mediatype, ...storedFile(copied) }] : [];
    }),
  };
}

function storedFile({ objectKey, size, sha256 }: CopiedFile) {
  return { objectKey, size, sha256 };
}

async function scheduleWrite(
  trx: Transaction,
  { id: eventId, columns: { title }, schedule }: EventPlan,
  gapMs: number,
): Promise<Pick<EventWrite, 'schedule' | 'schedules'>> {
  if (!schedule) return {};
  const { recordingState, processing, ...place } = schedule;
  const present = await trx.selectFrom('schedules').selectAll().where('event_id', '=', eventId).executeTakeFirst();
  // At the source the two recordings exist, whatever its rules about conflicts were.
  const shared = { gapMs, allowConflict: true, recordingState };
  if (!present) {
    const occurrences = [{ eventId, title, start: place.start, end: place.end }];
    return { schedules: { ...shared, agentId: place.agentId, inputs: place.inputs, occurrences, processing } };
  }
  const from = {
    eventId,
    agentId: present.agent_id,
    start: present.start_date,
    end: present.end_date,
    inputs: present.inputs,
  };
  return { schedule: { ...shared, from, to: { eventId, ...place }, title } };
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
