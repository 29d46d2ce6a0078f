import { type Insertable, sql, type Updateable } from 'kysely';
import { replaceAcl } from '../access/acl/acl.queries.ts';
import type { AclEntry } from '../access/acl/acl.ts';
import type { NewChange } from '../changes/change.ts';
import { recordChanges } from '../changes/record.ts';
import type { Transaction } from '../database/kysely.ts';
import type { Event } from '../database/schema.ts';
import type { CatalogValues } from '../metadata/catalog.ts';
import { deleteCatalog, saveCatalogs } from '../metadata/catalogs.queries.ts';
import {
  changeSchedule,
  insertSchedules,
  type NewSchedules,
  type ScheduleChange,
} from '../recordings/schedules/write-schedules.ts';
import { releaseObjects } from '../storage/staging-entries.ts';
import type { StoredTrack } from './event-state.ts';
import { type NewTrack, trackRow } from './tracks.ts';

/** What sets new events of one request apart. */
export type OwnColumns = Required<
  Pick<Insertable<Event>, 'id' | 'title' | 'start_date' | 'created' | 'duration'>
>;

/** What is written of events, new ones or such as are locked; of what is not given nothing changes. */
export interface EventWrite {
  /** Identifiers. Tracks are those of the first. */
  ids: readonly string[];
  /** Rows of new events, or the columns that change. */
  rows:
    | { kind: 'new'; own: readonly OwnColumns[]; shared: Omit<Insertable<Event>, keyof OwnColumns> }
    | { kind: 'changed'; columns: Updateable<Event> };
  schedules?: NewSchedules | undefined;
  schedule?: ScheduleChange | undefined;
  acl?: readonly AclEntry[] | undefined;
  /** Values of catalogs beside the default one, by flavor. */
  catalogs?: ReadonlyMap<string, CatalogValues> | undefined;
  /** The flavor of a catalog that goes. */
  removedCatalog?: string | undefined;
  removedTracks?: readonly Pick<StoredTrack, 'id' | 'objectKey'>[];
  tracks?: readonly NewTrack[];
  /** What has made the tracks, if no client has sent them. */
  madeBy?: string | undefined;
  log: readonly NewChange[];
}

/**
 * The one writer of events. Rows come after what they show of schedules, access control lists and catalogs (triggers derive
 * it), and count one version. Objects of tracks that go are released; those of new ones are for the caller to take off the
 * staging ledger.
 *
 * @throws {Overlap} when something else is to be recorded at that time
 */
export async function writeEvents(trx: Transaction, write: EventWrite): Promise<void> {
  const { ids, rows, acl, catalogs, removedCatalog, removedTracks = [], tracks = [], madeBy } = write;
  if (write.schedules) await insertSchedules(trx, write.schedules);
  if (write.schedule) await changeSchedule(trx, write.schedule);
  if (acl) await replaceAcl(trx, 'events', ids, acl);
  if (catalogs) await saveCatalogs(trx, 'events', ids, catalogs);
  if (removedCatalog !== undefined) await deleteCatalog(trx, 'events', ids, removedCatalog);
  if (removedTracks.length > 0) await removeTracks(trx, removedTracks);
  if (rows.kind === 'new') await insertRows(trx, rows);
  else await updateRows(trx, ids, rows.columns);
  if (tracks.length > 0) await insertTracks(trx, ids[0] ?? '', tracks, madeBy);
  await recordChanges(trx, write.log);
}

/** However many, in one statement that carries what they share only once. */
async function insertRows(
  trx: Transaction,
  { own, shared }: Extract<EventWrite['rows'], { kind: 'new' }>,
): Promise<void> {
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

async function updateRows(
  trx: Transaction,
  ids: readonly string[],
  columns: Updateable<Event>,
): Promise<void> {
  await trx
    .updateTable('events')
    .set((eb) => ({ ...columns, archive_version: eb('archive_version', '+', 1) }))
    .where('id', '=', (eb) => eb.fn.any(eb.val([...ids])))
    .execute();
}

async function removeTracks(
  trx: Transaction,
  tracks: readonly Pick<StoredTrack, 'id' | 'objectKey'>[],
): Promise<void> {
  const ids = tracks.map(({ id }) => id);
  await trx.deleteFrom('tracks').where('id', 'in', ids).execute();
  await releaseObjects(
    trx,
    tracks.map(({ objectKey }) => objectKey),
  );
}

/** After those that the event has. */
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
