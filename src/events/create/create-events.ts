import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import type { AclEntry } from '../../access/acl/acl.ts';
import type { Transaction } from '../../database/kysely.ts';
import type { CatalogValues } from '../../metadata/catalog.ts';
import { requireSchedulable } from '../../recordings/agents/require-agent.ts';
import type { RecordingPlan } from '../../recordings/schedules/plan.ts';
import type { Occurrence } from '../../recordings/schedules/schedule.ts';
import { stateAfter } from '../../recordings/state.ts';
import type { Processing } from '../../workflows/processing.ts';
import type { newEventColumns } from '../columns.ts';
import { createdChange, recordingChange, scheduledChange } from '../event-changes.ts';
import { lookUp, namedPresenters, type References, type Sender } from '../event-state.ts';
import { IDENTIFIER_TAKEN, NO_SUCH_SERIES, SEVERAL_EVENTS } from '../refusals.ts';
import type { NewTrack } from '../tracks.ts';
import { type EventWrite, writeEvents } from '../write-events.ts';
import { occurrencesIn, scheduledColumns } from './occurrences.ts';

/** What is to be known of new events; all of them share it, but for what a recurrence rule gives each. */
export interface NewEvents {
  /** The identifier that a client chose, if it did. */
  id: string | undefined;
  columns: ReturnType<typeof newEventColumns>;
  /** Values of the catalogs beside the default one, by flavor. */
  catalogs: ReadonlyMap<string, CatalogValues>;
  /** Null for none of their own: that of their series holds then. */
  acl: readonly AclEntry[] | null;
  processing: Processing;
  /** What is to be recorded; undefined for an event that is not scheduled. */
  recordings: RecordingPlan | undefined;
}

/** Who creates events, and what has to lie between two recordings of an agent, in milliseconds. */
export type Creator = Sender & { gapMs: number };

/**
 * Writes an event or, by a recurrence rule, many of them, with their schedules, catalogs, access control lists and
 * tracks. Run it in `explainingConflicts`.
 *
 * @param tracks of an event that no rule gives; the caller takes their objects off the staging ledger
 * @returns the events' identifiers, in chronological order, and what is to be done with them now: nothing with what is
 * scheduled and waits for its recording
 * @throws {HttpError} 400 for tracks together with a rule, a series that the sender does not see, or an agent that nothing can be scheduled on,
 * 409 for an identifier that is taken
 * @throws {Overlap} when something else is to be recorded at that time
 */
export async function createEvents(
  trx: Transaction,
  events: NewEvents,
  tracks: readonly NewTrack[],
  by: Creator,
): Promise<{ ids: readonly string[]; processing: Processing | undefined }> {
  const { id, recordings, columns } = events;
  if (recordings?.recurring && tracks.length > 0) throw SEVERAL_EVENTS();
  const occurrences = recordings && occurrencesIn(recordings, { id, title: columns.title });
  const { series_id, presenters } = columns;
  const referred = { seriesId: series_id ?? undefined, presenters, agentId: recordings?.agentId };
  const references = await lookUp(trx, referred, by);
  if (series_id && !references.seriesFound) throw NO_SUCH_SERIES(series_id);
  if (id !== undefined && !recordings?.recurring) await requireFreeIdentifier(trx, id);
  if (recordings) requireSchedulable(recordings.agentId, references.agentKnown);
  const write = newWrite(events, occurrences, tracks, references, by);
  await writeEvents(trx, write);
  return { ids: write.ids, processing: !recordings || tracks.length > 0 ? events.processing : undefined };
}

/**
 * Refuses an identifier that another event has; until the transaction ends no other one gets it. Needed before anything
 * is written that belongs to an event of that identifier.
 */
async function requireFreeIdentifier(trx: Transaction, id: string): Promise<void> {
  await sql`SELECT pg_advisory_xact_lock(hashtextextended(${id}, 0))`.execute(trx);
  const taken = await trx.selectFrom('events').select('id').where('id', '=', id).executeTakeFirst();
  if (taken) throw IDENTIFIER_TAKEN(id);
}

function newWrite(
  { id, recordings, acl, catalogs, processing, columns: all }: NewEvents,
  occurrences: readonly Occurrence[] | undefined,
  tracks: readonly NewTrack[],
  references: References,
  { principal, gapMs }: Creator,
): EventWrite {
  const { title, start_date, created, duration, ...columns } = all;
  const own = occurrences?.map(scheduledColumns) ?? [
    { id: id ?? randomUUID(), title, start_date, created, duration },
  ];
  const ids = own.map(({ id }) => id);
  const recordingState = recordings && tracks.length > 0 ? stateAfter('', { kind: 'recorded' }) : undefined;
  const actor = principal.username;
  return {
    ids,
    rows: {
      kind: 'new',
      own,
      shared: {
        ...columns,
        presenters: namedPresenters(columns.presenters, references),
        location: recordings?.agentId ?? columns.location,
        creator: principal.displayName,
        own_acl: acl !== null,
      },
    },
    schedules: recordings &&
      occurrences && {
        agentId: recordings.agentId,
        inputs: recordings.inputs,
        occurrences,
        processing,
        gapMs,
        recordingState,
      },
    acl: acl ?? undefined,
    catalogs,
    tracks,
    log: [
      ...ids.map((eventId) => createdChange(eventId, tracks, actor)),
      ...(occurrences ?? []).map((occurrence) =>
        scheduledChange({ ...occurrence, agentId: recordings?.agentId ?? '' }, actor),
      ),
      ...(recordingState ? ids.map((eventId) => recordingChange(eventId, recordingState)) : []),
    ],
  };
}
