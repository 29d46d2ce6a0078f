import { sql } from 'kysely';
import { removeSchedule } from '#capture/schedules/write-schedules.ts';
import type { NewTrack } from '#catalogue/events/event-files.ts';
import { EVENT_PARTS, type EventWrite, writeEvents } from '#catalogue/events/write-events.ts';
import type { Queryable, Transaction } from '#platform/database/kysely.ts';
import { inTransaction } from '#platform/database/retry.ts';
import { ACTIVE_STATES } from '#processing/workflow-states.ts';
import { type ItemKey, type ItemResult, type KnownItem, saveResult } from './import-items.queries.ts';
import { ACTOR, type ImportServices } from './import-services.ts';
import type { EventPlan } from './plan-event.ts';
import { areCurrent, type Copies, planFilesWrite, storedFile, writeFiles } from './write-imported-files.ts';

/** The state of an event here. */
export interface Here {
  version: string;
  /** True while a workflow processes it. */
  isProcessed: boolean;
  /** The marks of its imported files that are still there, by identifier. */
  marks: Map<string, string>;
}

/** The parts of the outcome that the plan does not have. */
interface Write {
  here: Here | undefined;
  known: KnownItem;
  copies: Copies;
  digest: string;
}

/** Writes a planned event with its copied files, and the outcome of the item, in one transaction. @throws {ConcurrentChange} */
export async function writeImportedEvent(
  plan: EventPlan,
  { here, known, copies, digest }: Write,
  services: ImportServices,
): Promise<ItemResult> {
  const key: ItemKey = { sourceId: services.sourceId, kind: 'event', id: plan.id };
  const files = planFilesWrite(plan, copies);
  // After a change here (`theirs`) nothing is known about the files.
  const isCurrent = here !== undefined && here.version === known.version && areCurrent(files, known.copiedFiles);
  return inTransaction(services.database, async (trx) => {
    await lockPlaces(trx, plan, here);
    if (here && !plan.schedule) await removeSchedule(trx, plan.id);
    const write = here ? await changedWrite(trx, plan, { copies, isCurrent }, services) : newWrite(plan);
    const schedule = await scheduleWrite(trx, plan, here, services.gapMs);
    await writeEvents(trx, { ...write, ...schedule, tracks: newTracks(plan, copies) });
    if (!isCurrent) await writeFiles(trx, files, { key, staging: services.staging, isNew: !here });
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
    const notes = [...plan.notes, ...files.notes];
    const written = { notes, version, copiedFiles: files.digest, files: files.files.length, bytes };
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
  // The insertion of an event that another client has created fails.
  if (!here) return;
  await trx.selectFrom('events').select('id').where('id', '=', id).forUpdate().execute();
  const workflows = trx.selectFrom('workflows').select('id').where('event_id', '=', id);
  if (await workflows.where('state', 'in', ACTIVE_STATES).limit(1).executeTakeFirst())
    throw new ConcurrentChange('It is being processed here.');
  if ((await eventVersion(trx, id)) !== here.version)
    throw new ConcurrentChange('It was changed here while its files were copied.');
}

function newWrite({ id, columns, ownAcl, acl, catalogs }: EventPlan): EventWrite {
  const { title, start_date, created, duration, ...shared } = { ...columns, own_acl: ownAcl };
  const rows = { kind: 'new', own: [{ id, title, start_date, created, duration }], shared } as const;
  return { ids: [id], actor: ACTOR, rows, acl: ownAcl ? acl : undefined, catalogs };
}

/** @param place.isCurrent true if the files of the event stay as they are */
async function changedWrite(
  trx: Transaction,
  plan: EventPlan,
  { copies, isCurrent }: { copies: Copies; isCurrent: boolean },
  { sourceId, theirs }: ImportServices,
): Promise<EventWrite> {
  const { id, columns, acl, ownAcl, catalogs } = plan;
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
  const parts = EVENT_PARTS.filter((part) => part !== 'cut' && !(part === 'tracks' && isCurrent));
  return {
    ids: [id],
    actor: ACTOR,
    rows: { kind: 'changed', columns: { ...columns, own_acl: ownAcl }, parts },
    acl: ownAcl ? acl : [],
    catalogs,
    removedCatalogs: stored.map(({ flavor }) => flavor).filter((flavor) => !catalogs.has(flavor)),
    removedTracks: present.filter((track) => !copies.kept.has(track.id)),
  };
}

function newTracks(plan: EventPlan, copies: Copies): NewTrack[] {
  return plan.tracks.flatMap(({ id, flavor, tags, filename, mediatype }) => {
    const copied = copies.files.get(id);
    return copied ? [{ id, flavor, tags, filename, mediatype, ...storedFile(copied) }] : [];
  });
}

async function scheduleWrite(
  trx: Transaction,
  { id: eventId, columns: { title }, schedule }: EventPlan,
  here: Here | undefined,
  gapMs: number,
): Promise<Pick<EventWrite, 'schedule' | 'schedules'>> {
  if (!schedule) return {};
  const { recordingState, processing, ...place } = schedule;
  const present =
    here && (await trx.selectFrom('schedules').selectAll().where('event_id', '=', eventId).executeTakeFirst());
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
