import { randomUUID } from 'node:crypto';
import type { AclEntry } from '#access/acl/acl.ts';
import { requireSchedulable } from '#capture/agents/agent-names.ts';
import type { RecordingPlan } from '#capture/schedules/parse-scheduling.ts';
import { type Occurrence, stateAfter } from '#capture/states/recording-state.ts';
import type { CatalogValues } from '#metadata/catalog.ts';
import { TEXT_BYTES } from '#metadata/field-values.ts';
import type { Transaction } from '#platform/database/kysely.ts';
import { badRequest } from '#platform/http/errors/errors.ts';
import type { Processing } from '#processing/processing-request.ts';
import type { newEventColumns } from './event-columns.ts';
import type { NewTrack } from './event-files.ts';
import { IDENTIFIER_TAKEN, NO_SUCH_SERIES, TRACKS_WITH_RULE } from './event-refusals.ts';
import { lookUpReferences, type Sender } from './event-state.ts';
import { type OwnColumns, writeEvents } from './write-events.ts';

/**
 * Returns the recordings of a plan with the identifiers and titles of their events. Recordings of a recurrence rule get
 * generated identifiers and a number after the title.
 *
 * @throws {HttpError} 400 for a title that is too long for a number
 */
function occurrencesIn(
  { periods, recurring }: RecordingPlan,
  { id, title }: { id: string | undefined; title: string },
): Occurrence[] {
  const digits = String(periods.length).length;
  if (recurring) requireRoom(title, digits);
  return periods.map((period, i) => {
    if (!recurring) return { ...period, eventId: id ?? randomUUID(), title };
    const number = String(i + 1).padStart(digits, '0');
    return { ...period, eventId: randomUUID(), title: title === '' ? number : `${title} ${number}` };
  });
}

/** Returns the columns that differ between the events of a plan. `created` is the start, whatever the metadata say. */
function scheduledColumns({ eventId: id, title, start, end }: Occurrence): OwnColumns {
  return { id, title, start_date: start, created: start, duration: end.getTime() - start.getTime() };
}

function requireRoom(title: string, digits: number): void {
  const allowed = TEXT_BYTES - digits - 1;
  const bytes = Buffer.byteLength(title);
  if (bytes <= allowed) return;
  throw badRequest(
    `'title' has ${bytes} bytes of UTF-8. With an 'rrule' at most ${allowed} are allowed, because a number is appended.`,
  );
}

/** The common properties of new events. */
export interface NewEvents {
  /** The identifier that a client chose, if any. */
  id: string | undefined;
  columns: ReturnType<typeof newEventColumns>;
  /** Values of the catalogs beside the default one, by flavor. */
  catalogs: ReadonlyMap<string, CatalogValues>;
  /** Null to use the list of the series. */
  acl: readonly AclEntry[] | null;
  processing: Processing;
  /** Undefined for an event that is not scheduled. */
  recordings: RecordingPlan | undefined;
}

/**
 * Creates an event, or one for each occurrence of a recurrence rule, with schedules, catalogs, access control lists and
 * tracks. Run it in `withScheduleConflicts`.
 *
 * @param tracks the caller removes their objects from the staging ledger
 * @param by the sender, and the minimum gap between two recordings of an agent
 * @returns the identifiers in chronological order, and the processing to start now, if any
 * @throws {HttpError} 400 for tracks together with a rule, an unknown series or an unknown agent; 409 for a used identifier
 * @throws {ScheduleOverlap} if the agent has another recording at that time
 */
export async function createEvents(
  trx: Transaction,
  events: NewEvents,
  tracks: readonly NewTrack[],
  by: Sender & { gapMs: number },
): Promise<{ ids: readonly string[]; processing: Processing | undefined }> {
  const { id, recordings, acl, catalogs, processing } = events;
  const { title, start_date, created, duration, ...columns } = events.columns;
  if (recordings?.recurring && tracks.length > 0) throw TRACKS_WITH_RULE();
  const occurrences = recordings && occurrencesIn(recordings, { id, title });
  const referred = {
    id: recordings?.recurring ? undefined : id,
    seriesId: columns.series_id ?? undefined,
    presenters: columns.presenters,
    agentId: recordings?.agentId,
  };
  const references = await lookUpReferences(trx, referred, by);
  if (columns.series_id && !references.seriesFound) throw NO_SUCH_SERIES(columns.series_id);
  if (references.taken) throw IDENTIFIER_TAKEN(id ?? '');
  if (recordings) requireSchedulable(recordings.agentId, references.agentKnown);
  const own = occurrences?.map(scheduledColumns) ?? [{ id: id ?? randomUUID(), title, start_date, created, duration }];
  const shared = {
    ...columns,
    presenters: [...references.presenters],
    location: recordings?.agentId ?? columns.location,
    creator: by.principal.displayName,
    own_acl: acl !== null,
  };
  const recordingState = recordings && tracks.length > 0 ? stateAfter('', { kind: 'recorded' }) : undefined;
  const { gapMs } = by;
  const ids = own.map(({ id }) => id);
  await writeEvents(trx, {
    ids,
    actor: by.principal.username,
    rows: { kind: 'new', own, shared },
    schedules:
      recordings && occurrences ? { ...recordings, occurrences, processing, gapMs, recordingState } : undefined,
    recording: recordingState ? [recordingState] : [],
    acl: acl ?? undefined,
    catalogs,
    tracks,
  });
  return { ids, processing: !recordings || tracks.length > 0 ? processing : undefined };
}
