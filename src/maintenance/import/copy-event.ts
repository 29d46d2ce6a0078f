import { sql } from 'kysely';
import type { Database } from '#platform/database/kysely.ts';
import { OutboundError } from '#platform/outbound/connect.ts';
import { ACTIVE_STATES } from '#processing/workflow-states.ts';
import { SourceError } from './catalogue-source.ts';
import { copyFile } from './copy-files.ts';
import type { ItemResult, KnownItem } from './import-items.queries.ts';
import { type ImportServices, skipReason } from './import-services.ts';
import { type EventPlan, planEvent, waitingReason } from './plan-event.ts';
import { withExtras } from './plan-extras.ts';
import { isPlaylist, planFiles, uuidsIn } from './plan-files.ts';
import type { PlannedFile } from './planned-file.ts';
import type { SourceEvent } from './source.schemas.ts';
import { EVENT_VERSION, type Here, writeImportedEvent } from './write-imported-event.ts';
import { type Copies, markOf } from './write-imported-files.ts';

/**
 * Copies an event, or brings the copy up to date. Files that are here already are not copied again. What the source cannot
 * deliver is missing in the copy, and is named as the reason of its failure.
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
  const refusal = theirs ? undefined : skipReason('event', here?.version, known);
  if (refusal !== undefined) return { state: 'skipped', reason: refusal };
  if (here?.isProcessed) return { state: 'pending', reason: 'It is being processed here.' };
  const tracks = await source.tracks(event.identifier);
  const taken = await idsElsewhere(database, event.identifier, uuidsIn(event, tracks));
  const parts = { catalogs: services.catalogs.event, source: source.name, now: new Date(), taken };
  const plan = withExtras(planEvent(event, tracks, parts), event.inlet);
  const renewed = async (fileId: string) => {
    const again = await source.findEvent(event.identifier);
    const tracksNow = await source.tracks(event.identifier);
    const { tracks, publications } = planFiles(again ?? event, tracksNow, source.name, taken);
    return [...tracks, ...publications.flatMap(({ elements }) => elements)].find(({ id }) => id === fileId);
  };
  const copies = await copyFiles(plan, { here, renewed }, services);
  try {
    return await writeImportedEvent(plan, { here, known, copies, digest }, services);
  } finally {
    // After a commit they are no longer on the ledger.
    await services.staging.discard([...copies.files.values()].map(({ objectKey }) => objectKey));
  }
}

/** Returns those identifiers that files and publications of other events have here: some sources copy events with them. */
async function idsElsewhere(database: Database, eventId: string, ids: readonly string[]): Promise<Set<string>> {
  if (ids.length === 0) return new Set();
  const found = sql.join(
    ['tracks', 'attachments', 'publications', 'publication_elements'].map(
      (table) => sql`SELECT id FROM ${sql.table(table)} WHERE id = ANY(${ids}::uuid[]) AND event_id <> ${eventId}`,
    ),
    sql` UNION ALL `,
  );
  const { rows } = await sql<{ id: string }>`${found}`.execute(database);
  return new Set(rows.map(({ id }) => id));
}

async function findHere(database: Database, id: string, sourceId: number): Promise<Here | undefined> {
  const { rows } = await sql<{ version: string; isProcessed: boolean; marks: Record<string, string> }>`
    SELECT ${EVENT_VERSION} AS version,
      EXISTS (SELECT FROM workflows WHERE event_id = events.id AND state = ANY(${ACTIVE_STATES})) AS "isProcessed",
      coalesce((SELECT jsonb_object_agg(file_id, mark) FROM import_files AS f
        WHERE f.event_id = events.id AND f.source_id = ${sourceId} AND (
          EXISTS (SELECT FROM tracks WHERE tracks.id = file_id AND tracks.event_id = events.id)
          OR EXISTS (SELECT FROM attachments AS a WHERE a.id = file_id AND a.event_id = events.id)
          OR EXISTS (SELECT FROM publication_elements AS e WHERE e.id = file_id AND e.event_id = events.id))), '{}') AS marks
    FROM events WHERE id = ${id}`.execute(database);
  const [found] = rows;
  return found && { ...found, marks: new Map(Object.entries(found.marks)) };
}

/** Copies the files of an event that are not here. @param renewed plans a file again, with a new address */
async function copyFiles(
  plan: EventPlan,
  { here, renewed }: { here: Here | undefined; renewed: (fileId: string) => Promise<PlannedFile | undefined> },
  services: ImportServices,
): Promise<Copies> {
  const copies: Copies = { files: new Map(), kept: new Map(), failures: [] };
  const current = new Map(here?.marks);
  const isHere = (file: PlannedFile) => current.get(file.id) === markOf(file);
  const wanted: PlannedFile[] = [...plan.tracks, ...plan.attachments];
  for (const { elements } of plan.publications) {
    const media = elements.filter(({ kind }) => kind === 'media');
    // Renditions get their properties from the playlist and their files, which must come together.
    const isRenewed = media.some((element) => isPlaylist(element.mediatype)) && !media.every(isHere);
    if (isRenewed) for (const { id } of media) current.delete(id);
    wanted.push(...elements);
  }
  services.source.prepare?.(wanted.filter((file) => !isHere(file)).map(({ url }) => url));
  try {
    for (const file of wanted) {
      if (isHere(file)) copies.kept.set(file.id, markOf(file));
      else if (!(await copyOne(file, copies, () => renewed(file.id), services))) {
        // An earlier file is better than none, and its mark has the next run try again.
        const earlier = here?.marks.get(file.id);
        if (earlier !== undefined) copies.kept.set(file.id, earlier);
      }
    }
    return copies;
  } catch (error) {
    await services.staging.discard([...copies.files.values()].map(({ objectKey }) => objectKey));
    throw error;
  }
}

/** @returns false if the source could not deliver the file */
async function copyOne(
  file: PlannedFile,
  { files, failures }: Copies,
  renew: () => Promise<PlannedFile | undefined>,
  services: ImportServices,
): Promise<boolean> {
  const copy = (each: PlannedFile) => copyFile(each, services);
  try {
    const copied = copy(file).catch(async (error) => {
      const isExpired = error instanceof SourceError && EXPIRED.includes(error.status ?? 0);
      const renewed = isExpired ? await renew() : undefined;
      if (renewed) return copy(renewed);
      throw error;
    });
    files.set(file.id, await copied);
    return true;
  } catch (error) {
    services.signal.throwIfAborted();
    if (!isFaultOf(error)) throw error;
    failures.push(`${file.path}: ${error.message}`);
    return false;
  }
}

/** The statuses of addresses whose signature has expired. */
const EXPIRED = [403, 410];

/** Returns true for an error of one file. Others end the import: a full disk, a lost database. */
function isFaultOf(error: unknown): error is Error {
  return error instanceof SourceError || error instanceof OutboundError;
}
