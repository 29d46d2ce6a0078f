import { type Insertable, sql, type Updateable } from 'kysely';
import { replaceAcl } from '#access/acl/acl.queries.ts';
import type { AclEntry } from '#access/acl/acl.ts';
import {
  changeSchedule,
  insertSchedules,
  type NewSchedules,
  type ScheduleChange,
} from '#capture/schedules/write-schedules.ts';
import type { RecordingState, Schedule } from '#capture/states/recording-state.ts';
import type { NewChange } from '#changes/change.ts';
import { recordChanges } from '#changes/record-changes.ts';
import type { CatalogValues } from '#metadata/catalog.ts';
import { deleteCatalog, saveCatalogs } from '#metadata/catalogs.queries.ts';
import type { Transaction } from '#platform/database/kysely.ts';
import type { Event } from '#platform/database/schema.ts';
import { CUTTING } from '#platform/media/cutting.ts';
import { releaseObjects } from '#platform/storage/staging-sweep.ts';
import { type NewAttachment, type NewTrack, trackRow } from './event-files.ts';
import type { StoredTrack } from './event-state.ts';

/** The parts of an event that an edit can change. */
export const EVENT_PARTS = ['metadata', 'acl', 'scheduling', 'processing', 'tracks', 'cut'] as const;
type EventPart = (typeof EVENT_PARTS)[number];

/** The columns that differ between new events of one request. */
export type OwnColumns = Required<Pick<Insertable<Event>, 'id' | 'title' | 'start_date' | 'created' | 'duration'>>;

/** The parts and streams of a recording that a person keeps. The next workflow with the operation `cut` applies it. */
export interface CutEdit {
  /** The cutting catalog; undefined to keep all. */
  catalog: string | undefined;
  /** The kinds of streams to leave out, by the identifier of the track. Others stay as they are. */
  hidden: ReadonlyMap<string, readonly string[]>;
  /** Pictures that replace those of the same flavor. */
  pictures: readonly NewAttachment[];
}

/** A change of new or locked events. Missing properties change nothing. */
export interface EventWrite {
  /** Tracks are written to the first one. */
  ids: readonly string[];
  /** The user name of the principal; undefined for the service itself. */
  actor: string | undefined;
  rows: NewRows | ChangedRows;
  schedules?: NewSchedules | undefined;
  schedule?: ScheduleChange | undefined;
  /** The new states of the recordings, in order. */
  recording?: readonly RecordingState[];
  acl?: readonly AclEntry[] | undefined;
  /** Values of extended catalogs, by flavor. */
  catalogs?: ReadonlyMap<string, CatalogValues> | undefined;
  /** The flavors of catalogs to delete. */
  removedCatalogs?: readonly string[];
  removedTracks?: readonly Pick<StoredTrack, 'id' | 'objectKey'>[];
  tracks?: readonly NewTrack[];
  /** Written to the first one. */
  cut?: CutEdit | undefined;
  /** The operation that made the tracks; undefined if a client sent them. */
  madeBy?: string | undefined;
}

interface NewRows {
  kind: 'new';
  own: readonly OwnColumns[];
  shared: Omit<Insertable<Event>, keyof OwnColumns>;
}

interface ChangedRows {
  kind: 'changed';
  columns: Updateable<Event>;
  /** The changed parts, for the log of changes. */
  parts: readonly EventPart[];
}

/**
 * Writes events; nothing else does. Schedules, access control lists and catalogs come first, because the triggers of the
 * event row derive columns from them. Counts one version and records the changes. Releases the objects of removed tracks
 * and pictures; the caller removes the objects of new ones from the staging ledger.
 *
 * @throws {ScheduleOverlap} if the agent has another recording at that time
 */
export async function writeEvents(trx: Transaction, write: EventWrite): Promise<void> {
  const { ids, acl, catalogs, removedCatalogs = [], removedTracks = [] } = write;
  if (write.schedules) await insertSchedules(trx, write.schedules);
  if (write.schedule) await changeSchedule(trx, write.schedule);
  if (catalogs) await saveCatalogs(trx, 'events', ids, catalogs);
  for (const flavor of removedCatalogs) await deleteCatalog(trx, 'events', ids, flavor);
  if (acl) await replaceAcl(trx, 'events', ids, acl);
  await writeRows(trx, write);
  const replaced = await writeCut(trx, write);
  await recordChanges(trx, changesOf(write));
  await releaseObjects(trx, [...replaced, ...removedTracks.map(({ objectKey }) => objectKey)]);
}

async function writeRows(
  trx: Transaction,
  { ids, rows, removedTracks = [], tracks = [], madeBy, cut }: EventWrite,
): Promise<void> {
  if (rows.kind === 'new') await insertRows(trx, rows);
  else {
    const hasOtherTracks = !madeBy && (cut || tracks.length + removedTracks.length > 0);
    const changed = hasOtherTracks && { tracks_changed_at: sql<Date>`clock_timestamp()` };
    await trx
      .updateTable('events')
      .set((eb) => ({ ...rows.columns, ...changed, archive_version: eb('archive_version', '+', 1) }))
      .where('id', '=', (eb) => eb.fn.any(eb.val([...ids])))
      .execute();
  }
  if (removedTracks.length > 0) {
    const removed = removedTracks.map(({ id }) => id);
    await trx.deleteFrom('tracks').where('id', 'in', removed).execute();
  }
  const [eventId = ''] = ids;
  if (tracks.length > 0) await insertTracks(trx, eventId, tracks, madeBy);
}

/** Inserts all rows in one statement that holds shared values only once. */
async function insertRows(trx: Transaction, { own, shared }: NewRows): Promise<void> {
  const columns = Object.keys(shared).map((column) => sql.ref(column));
  await sql`
    INSERT INTO events (id, title, start_date, created, duration, ${sql.join(columns)})
    SELECT id, title, start_date, created, duration, ${sql.join(Object.values(shared))}
    FROM unnest(${own.map(({ id }) => id)}::text[], ${own.map(({ title }) => title)}::text[],
      ${own.map(({ start_date }) => start_date)}::timestamptz[],
      ${own.map(({ created }) => created)}::timestamptz[],
      ${own.map(({ duration }) => duration)}::bigint[])
      AS own (id, title, start_date, created, duration)`.execute(trx);
}

/** Appends tracks to those of the event. */
async function insertTracks(
  trx: Transaction,
  eventId: string,
  tracks: readonly NewTrack[],
  madeBy: string | undefined,
): Promise<void> {
  const next = sql<number>`(SELECT coalesce(max(position) + 1, 0) FROM tracks WHERE event_id = ${eventId})`;
  const rows = tracks.map((track, i) => ({
    ...trackRow(eventId, track),
    position: sql<number>`${next} + ${i}::integer`,
    made_by: madeBy ?? null,
  }));
  await trx.insertInto('tracks').values(rows).execute();
}

/** Writes the cut of an event. @returns the objects of replaced pictures */
async function writeCut(trx: Transaction, { ids: [eventId = ''], cut }: EventWrite): Promise<string[]> {
  if (!cut) return [];
  const { catalog: content, hidden, pictures } = cut;
  if (content === undefined) {
    const documents = trx.deleteFrom('event_documents').where('event_id', '=', eventId);
    await documents.where('flavor', '=', CUTTING).execute();
  } else {
    await trx
      .insertInto('event_documents')
      .values({ event_id: eventId, flavor: CUTTING, filename: 'cutting.smil', content })
      .onConflict((same) => same.columns(['event_id', 'flavor']).doUpdateSet({ filename: 'cutting.smil', content }))
      .execute();
  }
  for (const [id, hidden_streams] of hidden) {
    const track = trx.updateTable('tracks').set({ hidden_streams: [...hidden_streams] });
    await track.where('event_id', '=', eventId).where('id', '=', id).execute();
  }
  const replaced: string[] = [];
  for (const { objectKey: object_key, tags = [], ...file } of pictures) {
    const before = trx.deleteFrom('attachments').where('event_id', '=', eventId).where('flavor', '=', file.flavor);
    for (const row of await before.returning('object_key').execute()) replaced.push(row.object_key);
    const picture = { ...file, tags: [...tags], object_key, event_id: eventId };
    await trx.insertInto('attachments').values(picture).execute();
  }
  return replaced;
}

function changesOf(write: EventWrite): NewChange[] {
  const { ids, actor, rows, recording = [] } = write;
  const kind = rows.kind === 'new' ? 'event.created' : 'event.changed';
  const data = { ...(rows.kind === 'changed' && { parts: rows.parts }), ...tracksData(write) };
  const recordings = ids.flatMap((eventId) =>
    recording.map((state) => ({ kind: 'event.recording', eventId, data: { recording: state } }) as const),
  );
  return [
    ...(rows.kind === 'changed' ? recordings : []),
    ...ids.map((eventId) => ({ kind, eventId, actor, data }) as const),
    ...schedulesOf(write).map(({ eventId, agentId: agent, start, end }) => {
      const data = { agent, start: start.toISOString(), end: end.toISOString() };
      return { kind: 'event.scheduled', eventId, actor, data } as const;
    }),
    ...(rows.kind === 'new' ? recordings : []),
  ];
}

/** Returns the number and size of received tracks, or the number of made ones. */
function tracksData({ tracks = [], madeBy }: EventWrite) {
  if (madeBy !== undefined) return { made: tracks.length };
  const bytes = tracks.reduce((sum, { size }) => sum + size, 0);
  return tracks.length > 0 ? { tracks: tracks.length, bytes } : {};
}

function schedulesOf({ schedules, schedule }: EventWrite): Omit<Schedule, 'inputs'>[] {
  if (schedule?.to) return [schedule.to];
  return (schedules?.occurrences ?? []).map((occurrence) => ({ ...occurrence, agentId: schedules?.agentId ?? '' }));
}
