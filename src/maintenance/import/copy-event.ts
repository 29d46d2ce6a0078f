import { sql } from 'kysely';
import { insertDocuments, isMedia as isRecording, type NewTrack } from '#catalogue/events/event-files.ts';
import { EVENT_PARTS, type EventWrite, writeEvents } from '#catalogue/events/write-events.ts';
import type { Catalogs } from '#metadata/catalogs.ts';
import type { Database, Transaction } from '#platform/database/kysely.ts';
import { inTransaction } from '#platform/database/retry.ts';
import { CAPTIONS_TYPE } from '#platform/media/media-type.ts';
import { OutboundError } from '#platform/outbound/connect.ts';
import { releaseObjects } from '#platform/storage/staging-sweep.ts';
import { type GivenElement, type GivenPublication, replacePublications } from '#publications/replace-publications.ts';
import { SourceError } from './catalogue-source.ts';
import { type CopiedFile, type CopyServices, copyFile } from './copy-files.ts';
import { type ItemKey, type ItemResult, saveResult } from './import-items.queries.ts';
import { type EventPlan, planEvent, waitingReason } from './plan-event.ts';
import { withExtras } from './plan-extras.ts';
import { isPlaylist, type PlannedElement, type PlannedFile, type PlannedPublication, planFiles } from './plan-files.ts';
import type { SourceEvent } from './source.schemas.ts';
import { planStreams, type StreamPlan } from './stream-properties.ts';

export interface ImportServices extends CopyServices {
  sourceId: number;
  database: Database;
  catalogs: Pick<Catalogs, 'event' | 'series'>;
  /** The minimum gap between two recordings of an agent, in milliseconds. */
  gapMs: number;
  /** True to overwrite what was changed here. */
  theirs: boolean;
}

/** An item as an earlier run has left it. */
export interface KnownItem {
  copied: string | null;
  version: string | null;
}

/** The actor of changes in the log. */
export const ACTOR = 'import';

/**
 * Copies an event, or brings the copy up to date. Files that are here already are not copied again. What the source cannot
 * deliver is missing in the copy, and told as the reason why it failed.
 *
 * @param digest the digest of the event at the source
 * @returns the outcome, already stored if the event was written
 */
export async function copyEvent(
  event: SourceEvent,
  digest: string,
  known: KnownItem,
  services: ImportServices,
): Promise<ItemResult> {
  const waiting = waitingReason(event);
  if (waiting !== undefined) return { state: 'pending', reason: waiting };
  const { source, database, sourceId, theirs } = services;
  const here = await findHere(database, event.identifier, sourceId);
  const refusal = theirs || !here ? undefined : skipReason(here, known);
  if (refusal !== undefined) return { state: 'skipped', reason: refusal };
  const tracks = await source.tracks(event.identifier);
  const parts = { catalogs: services.catalogs.event, source: source.name, now: new Date() };
  const plan = withExtras(planEvent(event, tracks, parts), event.inlet);
  const renewed = async (fileId: string) => {
    const again = await source.findEvent(event.identifier);
    const { tracks, publications } = planFiles(again ?? event, await source.tracks(event.identifier), source.name);
    return [...tracks, ...publications.flatMap(({ elements }) => elements)].find(({ id }) => id === fileId);
  };
  const copies = await copyFiles(plan, { here, renewed }, services);
  try {
    return await write(plan, { here, copies, digest }, services);
  } finally {
    // After a commit they are no longer on the ledger.
    await services.staging.discard([...copies.files.values()].map(({ objectKey }) => objectKey));
  }
}

/** The state of an event here. */
interface Here {
  version: string;
  hasWorkflow: boolean;
  /** The marks of its imported files that are still there, by identifier. */
  marks: Map<string, string>;
}

async function findHere(database: Database, id: string, sourceId: number): Promise<Here | undefined> {
  const { rows } = await sql<{ version: string; hasWorkflow: boolean; marks: Record<string, string> }>`
    SELECT archive_version::text AS version, EXISTS (SELECT FROM workflows
        WHERE event_id = events.id AND workflows.creator <> ${ACTOR}) AS "hasWorkflow",
      coalesce((SELECT jsonb_object_agg(file_id, mark) FROM import_files AS f
        WHERE f.event_id = events.id AND f.source_id = ${sourceId} AND (
          EXISTS (SELECT FROM tracks WHERE tracks.id = file_id AND tracks.event_id = events.id)
          OR EXISTS (SELECT FROM attachments AS a WHERE a.id = file_id AND a.event_id = events.id)
          OR EXISTS (SELECT FROM publication_elements AS e WHERE e.id = file_id AND e.event_id = events.id))), '{}') AS marks
    FROM events WHERE id = ${id}`.execute(database);
  const [found] = rows;
  return found && { ...found, marks: new Map(Object.entries(found.marks)) };
}

function skipReason(here: Here, known: KnownItem): string | undefined {
  if (known.version === null) return 'An event with this identifier exists here. Run with --theirs to overwrite it.';
  if (here.version === known.version && !here.hasWorkflow) return undefined;
  return 'It was changed here since it was copied. Run with --theirs to overwrite it.';
}

interface Copies {
  /** By the identifier of the planned file. */
  files: Map<string, CopiedFile>;
  /** Files that are here already. */
  kept: Set<string>;
  failures: string[];
}

function markOf({ size, checksum, path }: PlannedFile): string {
  return size === undefined && !checksum ? path : `${size ?? ''} ${checksum?.hex ?? ''}`;
}

/** Copies the files of an event that are not here. @param renewed plans a file again, with a new address */
async function copyFiles(
  plan: EventPlan,
  { here, renewed }: { here: Here | undefined; renewed: (fileId: string) => Promise<PlannedFile | undefined> },
  services: ImportServices,
): Promise<Copies> {
  const copies: Copies = { files: new Map(), kept: new Set(), failures: [] };
  const isHere = (file: PlannedFile) => here?.marks.get(file.id) === markOf(file);
  const wanted: PlannedFile[] = [...plan.tracks, ...plan.attachments];
  for (const { elements } of plan.publications) {
    // New renditions get their properties from the playlist.
    const isNew = elements.some((element) => element.kind === 'media' && !isHere(element));
    for (const element of elements) {
      if (isNew && isPlaylist(element.mediatype)) here?.marks.delete(element.id);
      wanted.push(element);
    }
  }
  try {
    for (const file of wanted) {
      if (isHere(file)) copies.kept.add(file.id);
      else await copyOne(file, copies, () => renewed(file.id), services);
    }
    return copies;
  } catch (error) {
    await services.staging.discard([...copies.files.values()].map(({ objectKey }) => objectKey));
    throw error;
  }
}

async function copyOne(
  file: PlannedFile,
  { files, failures }: Copies,
  renew: () => Promise<PlannedFile | undefined>,
  services: ImportServices,
): Promise<void> {
  const withHead = /^(video|audio)\/mp4$/.test(file.mediatype) || isText(file);
  const copy = (each: PlannedFile) => copyFile(each, services, { withHead });
  try {
    const copied = copy(file).catch(async (error) => {
      const isExpired = error instanceof SourceError && EXPIRED.includes(error.status ?? 0);
      const renewed = isExpired ? await renew() : undefined;
      if (renewed) return copy(renewed);
      throw error;
    });
    files.set(file.id, await copied);
  } catch (error) {
    services.signal.throwIfAborted();
    if (!isFaultOf(error)) throw error;
    failures.push(`${file.path}: ${error.message}`);
  }
}

/** The statuses of addresses whose signature has expired. */
const EXPIRED = [403, 410];

const isText = ({ mediatype }: PlannedFile) => mediatype === CAPTIONS_TYPE || isPlaylist(mediatype);

/** Returns true for an error of one file. Others end the import: a full disk, a lost database. */
function isFaultOf(error: unknown): error is Error {
  return error instanceof SourceError || error instanceof OutboundError;
}

interface Write {
  here: Here | undefined;
  copies: Copies;
  digest: string;
}

async function write(plan: EventPlan, { here, copies, digest }: Write, services: ImportServices): Promise<ItemResult> {
  const key: ItemKey = { sourceId: services.sourceId, kind: 'event', id: plan.id };
  const streams = await Promise.all(plan.publications.map((each) => planStreams(each, copies.files)));
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
    await writeEvents(trx, await eventWrite(trx, plan, { here, copies }, services));
    await writeTracks(trx, plan, copies);
    await writeAttachments(trx, plan, copies);
    await insertDocuments(trx, plan.id, plan.documents);
    await replacePublications(trx, plan.id, publications);
    await services.staging.commit(trx, objectKeys);
    await rememberFiles(trx, key, files);
    const { archive_version, bytes } = await trx
      .selectFrom('events')
      .select('archive_version')
      .select(
        sql<number>`((SELECT coalesce(sum(size), 0) FROM tracks WHERE event_id = events.id)
        + (SELECT coalesce(sum(size), 0) FROM publication_elements WHERE event_id = events.id))::float8`.as('bytes'),
      )
      .where('id', '=', plan.id)
      .executeTakeFirstOrThrow();
    const { failures } = copies;
    const written = { notes, version: String(archive_version), files: files.length, bytes };
    const result: ItemResult =
      failures.length > 0
        ? { state: 'failed', reason: failures.join(' '), ...written }
        : { state: 'copied', copied: digest, ...written };
    await saveResult(trx, key, result);
    return result;
  });
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
  const locked = await trx
    .selectFrom('events')
    .select('archive_version')
    .where('id', '=', id)
    .forUpdate()
    .executeTakeFirst();
  const version = locked && String(locked.archive_version);
  if (version !== here?.version) throw new ConcurrentChange('It was changed here while its files were copied.');
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
      return copied ? [{ id, flavor, tags, filename, mediatype, ...withoutHead(copied) }] : [];
    }),
  };
}

function withoutHead({ objectKey, size, sha256 }: CopiedFile) {
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
    return [
      { facts, file: copied && withoutHead(copied), ...(copied && isCaptions && { captions: copied.head.toString() }) },
    ];
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
): Promise<void> {
  await trx.deleteFrom('import_files').where('event_id', '=', id).where('source_id', '=', sourceId).execute();
  if (files.length === 0) return;
  const rows = files.map((file) => ({
    ...{ source_id: sourceId, event_id: id },
    path: file.path,
    file_id: file.id,
    mark: markOf(file),
  }));
  await trx.insertInto('import_files').values(rows).execute();
}
